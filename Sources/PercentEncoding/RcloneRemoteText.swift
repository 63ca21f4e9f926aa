/// A remote in rclone's syntax, `remote,name=value,name='va:lue':path`, with or without leading colons. A value may be
/// in quotes, within which a doubled quote is a literal one.
package struct RcloneRemoteText {
    /// The remote, without its colons and its settings.
    package private(set) var name = ""
    /// The end of the part that could be parsed.
    package private(set) var settings: [(name: String, value: String)] = []
    /// Whether a colon follows it.
    package private(set) var isWhole = false

    package init(_ text: some StringProtocol) {
        var rest = Substring(text).drop { $0 == ":" }.unicodeScalars[...]
        name = Self.take(&rest) { $0 == "," || $0 == ":" }
        while rest.first == "," {
            rest.removeFirst()
            let setting = Self.take(&rest) { $0 == "=" || $0 == "," || $0 == ":" }
            var value = ""
            if rest.first == "=" {
                rest.removeFirst()
                if let quote = rest.first, quote == "'" || quote == "\"" { value = Self.quoted(&rest, quote) }
                // rclone accepts nothing after a closing quote.
                value += Self.take(&rest) { $0 == "," || $0 == ":" }
            }
            settings.append((setting, value))
        }
        isWhole = rest.first == ":"
    }

    private static func take(
        _ rest: inout Substring.UnicodeScalarView, until isEnd: (Unicode.Scalar) -> Bool
    ) -> String {
        let end = rest.firstIndex(where: isEnd) ?? rest.endIndex
        defer { rest = rest[end...] }
        return String(rest[..<end])
    }

    private static func quoted(_ rest: inout Substring.UnicodeScalarView, _ quote: Unicode.Scalar) -> String {
        var value = String.UnicodeScalarView()
        rest.removeFirst()
        while let scalar = rest.popFirst() {
            if scalar == quote {
                guard rest.first == quote else { break }
                rest.removeFirst()
            }
            value.append(scalar)
        }
        return String(value)
    }

    // MARK: Secrets

    private static let suspicious = [
        "pass", "secret", "token", "key", "credential", "auth", "sas_url", "cookie", "header", "signature", "grant",
        "mnemonic",
        "session_id", "connection_string", "2fa", "otp",
    ]

    /// Whether it contains a secret: also in a setting that is itself a remote, or a URL with a password or a query.
    package var hasSecret: Bool {
        settings.contains { setting in
            Self.isSuspicious(setting.name) || Self.hasPassword(setting.value)
                || setting.value.split { ", ?&;'\"".contains($0) }.contains { part in
                    part.contains("=") && Self.isSuspicious(part.prefix { $0 != "=" })
                }
        }
    }

    private static func isSuspicious(_ name: some StringProtocol) -> Bool {
        let name = name.lowercased()
        return name == "sig" || suspicious.contains { name.contains($0) }
    }

    /// Whether a text has a URL with `user:password@`.
    private static func hasPassword(_ text: String) -> Bool {
        var rest = text[...]
        while let begin = rest.firstRange(of: "://") {
            rest = rest[begin.upperBound...]
            let authority = rest.prefix { !"/?#".contains($0) }
            if let at = authority.lastIndex(of: "@"), authority[..<at].contains(":") { return true }
        }
        return false
    }
}
