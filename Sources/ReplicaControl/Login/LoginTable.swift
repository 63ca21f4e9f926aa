/// The text of the file of logins: for each a section `[URL]` of `name=value` lines, or only `[URL] secret-service` if the Secret Service
/// has it.
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

    /// - Parameter name: The file's name in messages.
    init(_ text: String, called name: String) throws(SecretError) {
        var place: String?
        for (index, line) in SecretLines.lines(of: text).enumerated() {
            if SecretLines.isComment(line) { continue }
            if line.first == UInt8(ascii: "[") {
                let isElsewhere = line.suffix(Self.elsewhere.utf8.count).elementsEqual(Self.elsewhere.utf8)
                let end = isElsewhere ? Self.elsewhere.utf8.count : 1
                guard isElsewhere || line.last == UInt8(ascii: "]") else { throw Self.unreadable(name, index) }
                let own = SecretLines.string(line.dropFirst().dropLast(end))
                place = isElsewhere ? nil : own
                entries[own] = isElsewhere ? .elsewhere : .secrets([:])
            } else if let place, let (key, value) = SecretLines.pair(line),
                case .secrets(var secrets) = entries[place]
            {
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

    /// - Throws: If it could not be parsed back into this table.
    func text() throws(SecretError) -> String {
        var lines = ["# What 'replica login' keeps; 'replica logout' removes it."]
        for (place, entry) in entries.sorted(by: { $0.key < $1.key }) {
            switch entry {
            case .elsewhere: lines.append("[\(place)\(Self.elsewhere)")
            case .secrets(let secrets):
                lines.append("[\(place)]")
                lines += secrets.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            }
        }
        let text = lines.joined(separator: "\n") + "\n"
        return try SecretLines.readingBack(text, as: entries, longest: SecretFile.longest) {
            text throws(SecretError) in try LoginTable(text, called: "it").entries
        }
    }
}
