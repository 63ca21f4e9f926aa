import Glibc
import SystemPackage

/// Checks the permissions of a credentials file.
enum CredentialsFile {
    /// Throws a one-line message if the file is missing, is not a regular file, belongs neither to this user nor to
    /// root, or can be read or written by others than its owner.
    static func check(_ path: FilePath) throws(MountUsageError) {
        close(try opened(path))
    }

    /// The secrets in a file that passes these checks: lines of `name=value`. Empty lines and lines that begin with `#`
    /// are skipped; white space around the name is ignored.
    /// - Throws: As above, and for any other line.
    static func read(_ path: FilePath) throws(MountUsageError) -> [String: String] {
        let file = FileDescriptor(rawValue: try opened(path))
        defer { close(file.rawValue) }
        var bytes: [UInt8] = []
        do {
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: longest + 1, alignment: 1)
            defer { buffer.deallocate() }
            while bytes.count <= longest {
                let count = try file.read(into: buffer)
                if count == 0 { break }
                bytes += buffer[..<count]
            }
        } catch {
            throw MountUsageError("credentials=\(path): \(error)")
        }
        guard bytes.count <= longest, let text = String(validating: bytes, as: UTF8.self) else {
            throw MountUsageError("credentials=\(path): not text of at most \(longest) bytes")
        }
        return try secrets(in: text, path)
    }

    /// The maximum size of a file of secrets, in bytes.
    private static let longest = 64 << 10

    private static func secrets(in text: String, _ path: FilePath) throws(MountUsageError) -> [String: String] {
        var secrets: [String: String] = [:]
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let start = line.drop { $0 == " " || $0 == "\t" }
            if start.isEmpty || start.hasPrefix("#") { continue }
            guard let equals = start.firstIndex(of: "=") else {
                throw MountUsageError("credentials=\(path): line \(index + 1) is not name=value")
            }
            let name = String(start[..<equals].reversed().drop { $0 == " " || $0 == "\t" }.reversed())
            secrets[name] = String(start[start.index(after: equals)...])
        }
        return secrets
    }

    private static func opened(_ path: FilePath) throws(MountUsageError) -> Int32 {
        // NONBLOCK: a fifo put there must not hang the mount. The open file is checked, so that a link changed in
        // between can't bypass the check.
        let file = open(path.string, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw MountUsageError("credentials=\(path): \(Errno(rawValue: errno))") }
        do throws(MountUsageError) { try check(file, path) } catch {
            close(file)
            throw error
        }
        return file
    }

    private static func check(_ file: Int32, _ path: FilePath) throws(MountUsageError) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw MountUsageError("credentials=\(path): \(Errno(rawValue: errno))") }
        guard status.st_mode & S_IFMT == S_IFREG else { throw MountUsageError("credentials=\(path): not a file") }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw MountUsageError("credentials=\(path) belongs to another user")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw MountUsageError("credentials=\(path) can be read by others: chmod 600 it")
        }
    }
}
