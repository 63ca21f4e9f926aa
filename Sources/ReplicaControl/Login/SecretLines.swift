/// Secrets as lines of `name=value`, the form in files and in the Secret Service. They are compared byte by byte: for Swift, a `=` with a
/// combining character after it is another Character, and a CR with a LF is one.
package enum SecretLines {
    /// The maximum size of a login, in bytes: what `secret-tool` reads.
    package static let longest = 8_191

    /// The secrets in lines of `name=value`. Empty lines and those that start with `#` are skipped; white space around the name and a
    /// CR at the end of a line are not part of it.
    /// - Parameter name: The text's name in messages.
    /// - Throws: If a line is invalid.
    package static func secrets(in text: String, called name: String) throws(SecretError) -> [String: String] {
        var secrets: [String: String] = [:]
        for (index, line) in lines(of: text).enumerated() where !isComment(line) {
            guard let (key, value) = pair(line) else {
                throw SecretError(message: "\(name): line \(index + 1) is not name=value")
            }
            secrets[key] = value
        }
        return secrets
    }

    /// The lines of a login to be saved.
    /// - Throws: If they could not be parsed back into this login.
    package static func text(of secrets: [String: String]) throws(SecretError) -> String {
        guard !secrets.contains(where: { hasControl($0.key) || hasControl($0.value) }) else {
            throw SecretError(message: "the login contains control characters")
        }
        let lines = secrets.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)\n" }
        return try readingBack(lines.joined(), as: secrets, longest: longest) { text throws(SecretError) in
            try Self.secrets(in: text, called: "the login")
        }
    }

    /// Checks a text before it is written.
    /// - Throws: If it is too long for its readers, or could not be parsed back.
    static func readingBack<Value: Equatable>(
        _ text: String, as value: Value, longest: Int, _ read: (String) throws(SecretError) -> Value
    ) throws(SecretError) -> String {
        guard text.utf8.count <= longest else {
            throw SecretError(message: "no login was saved: at most \(longest) bytes can be stored")
        }
        // The parser's reason is of no use to the user who typed it.
        guard let found = try? read(text), found == value else {
            throw SecretError(message: "no login was saved: it could not be read back")
        }
        return text
    }

    /// Whether it contains control characters, which a terminal could interpret.
    package static func hasControl(_ text: String) -> Bool {
        text.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }
    }

    // MARK: Lines

    static func lines(of text: String) -> [Substring.UTF8View] {
        text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map { line in
            line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        }
    }

    static func isComment(_ line: Substring.UTF8View) -> Bool {
        let start = line.drop(while: isBlank)
        return start.isEmpty || start.first == UInt8(ascii: "#")
    }

    static func pair(_ line: Substring.UTF8View) -> (String, String)? {
        let start = line.drop(while: isBlank)
        guard let equals = start.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        var name = start[..<equals]
        while let last = name.last, isBlank(last) { name.removeLast() }
        return (string(name), string(start[start.index(after: equals)...]))
    }

    static func string(_ bytes: Substring.UTF8View) -> String { String(Substring(bytes)) }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
