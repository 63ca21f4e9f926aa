import Glibc
import HTTPClient

/// A configuration file of Amazon's tools: `~/.aws/credentials` or `~/.aws/config`.
struct AWSProfileFile {
    /// Values by lower-case name, by section.
    let sections: [String: [String: String]]

    private static let longest = 1 << 20

    /// - Parameter isConfiguration: Whether its sections are called `profile NAME`.
    init(text: String, isConfiguration: Bool) {
        var sections: [String: [String: String]] = [:]
        var section: String?
        for line in text.split(whereSeparator: \.isNewline) {
            let trimmed = line.trimmedSpaces
            if trimmed.isEmpty || trimmed.hasPrefix("#") || trimmed.hasPrefix(";") { continue }
            if trimmed.hasPrefix("[") {
                section = Self.section(trimmed, isConfiguration)
            } else if let section, line.first != " ", line.first != "\t", let equals = trimmed.firstIndex(of: "=") {
                // Indented lines belong to a nested value.
                let name = trimmed[..<equals].trimmedSpaces.lowercased()
                sections[section, default: [:]][name] = trimmed[trimmed.index(after: equals)...].trimmedSpaces
            }
        }
        self.sections = sections
    }

    private static func section(_ line: String, _ isConfiguration: Bool) -> String? {
        guard let end = line.firstIndex(of: "]") else { return nil }
        let name = line[line.index(after: line.startIndex)..<end].trimmedSpaces
        guard isConfiguration, name != "default" else { return name }
        return name.hasPrefix("profile ") ? name.dropFirst(8).trimmedSpaces : nil
    }

    /// - Returns: Nil if there is no readable file.
    init?(path: String, isConfiguration: Bool) {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        var bytes = [UInt8](repeating: 0, count: Self.longest)
        var done = 0
        while done < bytes.count {
            let room = bytes.count - done
            let count = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress?.advanced(by: done), room) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            done += count
        }
        self.init(text: String(decoding: bytes[..<done], as: UTF8.self), isConfiguration: isConfiguration)
    }
}
