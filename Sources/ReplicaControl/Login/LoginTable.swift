/// The text of the file of logins: a section `[URL]` of `name=value` for each, or `[URL] secret-service` alone for one that is kept
/// there.
struct LoginTable {
    /// One login.
    enum Entry: Equatable {
        case secrets([String: String])
        /// In the Secret Service.
        case elsewhere
    }

    var entries: [String: Entry] = [:]

    private static let elsewhere = "] secret-service"

    init() {}

    /// - Parameter name: What messages call the file.
    init(_ text: String, called name: String) throws(SecretError) {
        var place: String?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            if SecretFile.isComment(line) { continue }
            if line.hasPrefix("[") {
                let isElsewhere = line.hasSuffix(Self.elsewhere)
                let end = isElsewhere ? Self.elsewhere : "]"
                guard line.hasSuffix(end) else { throw Self.unreadable(name, index) }
                let own = String(line.dropFirst().dropLast(end.count))
                place = isElsewhere ? nil : own
                entries[own] = isElsewhere ? .elsewhere : .secrets([:])
            } else if let place, let (key, value) = SecretFile.pair(line), case .secrets(var secrets) = entries[place] {
                secrets[key] = value
                entries[place] = .secrets(secrets)
            } else {
                throw Self.unreadable(name, index)
            }
        }
    }

    private static func unreadable(_ name: String, _ index: Int) -> SecretError {
        SecretError(message: "\(name): line \(index + 1) is neither [URL] nor name=value")
    }

    var text: String {
        var lines = ["# What 'replica login' keeps; 'replica logout' removes it."]
        for (place, entry) in entries.sorted(by: { $0.key < $1.key }) {
            switch entry {
            case .elsewhere: lines.append("[\(place)\(Self.elsewhere)")
            case .secrets(let secrets):
                lines.append("[\(place)]")
                lines += secrets.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
