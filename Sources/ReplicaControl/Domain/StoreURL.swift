import ChildProcess
import PercentEncoding

/// The address of a store: `file:///absolute/path`, `NAME://…` of a store that is a program (``StoreProgramSearch``), or
/// `rclone:remote:path`, in rclone's syntax. It is stored in `domain.json` and shown by `replica status`, so it never
/// contains a secret: a URL with a password is rejected.
package struct StoreURL: Hashable, Sendable, CustomStringConvertible {
    /// The URL as given.
    package let text: String
    /// The part before `://`, or before the first colon of rclone's, in lower case.
    package let scheme: String
    /// The part after it, still percent-encoded.
    package let rest: String

    /// Whether a mount's SPEC is a URL rather than a domain's name, which cannot contain a colon.
    package static func looksLikeURL(_ text: String) -> Bool { text.contains(":") }

    /// Parses a URL, or throws what is wrong with it. The message never includes the URL itself, which may contain
    /// the secret that the message is about.
    package init(_ text: String) throws(StoreURLError) {
        let (scheme, rest) = try Self.parts(text)
        guard Self.isScheme(scheme) else { throw .notURL }
        if Self.beginning(of: scheme).hasSuffix("/") {
            // Bytes: with a combining character after it, a ":" is another Character.
            let authority = rest.utf8.prefix { !"/?#".utf8.contains($0) }
            if let at = authority.lastIndex(of: UInt8(ascii: "@")), authority[..<at].contains(UInt8(ascii: ":")) {
                throw .secret
            }
            if Self.hasSecretParameter(rest) { throw .secret }
        } else if RcloneRemoteText(rest).hasSecret {
            throw .secret
        }
        // A remote's folder may have format characters in its name, as some flags do: they are left out where it is printed.
        guard
            text.unicodeScalars.allSatisfy({ SanitizedText.isHarmless($0) || $0.properties.generalCategory == .format })
        else { throw .notURL }
        self.text = text
        self.scheme = scheme
        self.rest = rest
        if scheme == "file" { _ = try filePath() }
    }

    package var description: String { text }

    /// The beginning of a scheme's URLs: `NAME://`, or `rclone:`.
    package static func beginning(of scheme: String) -> String { scheme == "rclone" ? "rclone:" : "\(scheme)://" }

    private static func parts(_ text: String) throws(StoreURLError) -> (scheme: String, rest: String) {
        if text.prefix(7).lowercased() == "rclone:" {
            let rest = text.dropFirst(7)
            return ("rclone", String(rest.hasPrefix("//") ? rest.dropFirst(2) : rest))
        }
        guard let range = text.firstRange(of: "://") else { throw .notURL }
        return (text[..<range.lowerBound].lowercased(), String(text[range.upperBound...]))
    }

    /// The bytes of the path of a `file:` URL, percent-decoded, without a slash at the end.
    package func filePath() throws(StoreURLError) -> [UInt8] {
        guard rest.hasPrefix("/") else { throw .relativePath }
        if rest.contains("?") || rest.contains("#") { throw .parameters }
        guard var path = PercentText.decoded(rest), !path.contains(0) else { throw .notURL }
        while path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
        return path
    }

    /// Whether both are of one store: of the same text after the scheme, or of one directory however its path is spelled.
    package func isSame(as other: StoreURL) -> Bool {
        // Byte by byte: strings of the same characters in other normal forms are equal.
        scheme == other.scheme
            && (rest.utf8.elementsEqual(other.rest.utf8) || scheme == "file" && components == other.components)
    }

    /// The names in a `file:` URL's path. `..` stays: what it leads to depends on links.
    private var components: [ArraySlice<UInt8>]? {
        let path = try? filePath()  // Checked when the URL was made.
        return path?.split(separator: UInt8(ascii: "/")).filter { $0 != [UInt8(ascii: ".")] }
    }

    /// The `file:` URL of an absolute path of any bytes.
    package static func file(path: [UInt8]) throws(StoreURLError) -> StoreURL {
        try StoreURL("file://" + PercentText.encoded(path, keeping: "/+"))
    }

    /// Whether this is a valid scheme: a lower-case letter, followed by such letters, digits, `+` and `-`.
    package static func isScheme(_ text: String) -> Bool {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let others = Array("0123456789+-".utf8)
        guard let first = text.utf8.first, letters.contains(first) else { return false }
        return text.utf8.allSatisfy { letters.contains($0) || others.contains($0) }
    }

    private static let suspicious = [
        "password", "passwd", "secret", "token", "credential", "access_key", "accesskey",
    ]

    private static func hasSecretParameter(_ rest: String) -> Bool {
        guard let question = rest.firstIndex(of: "?") else { return false }
        return rest[rest.index(after: question)...].split(separator: "&").contains { parameter in
            let key = parameter.prefix { $0 != "=" }.lowercased()
            return suspicious.contains { key.contains($0) }
        }
    }
}

/// What is wrong with a store's URL.
package enum StoreURLError: Error, Equatable, CustomStringConvertible {
    case notURL
    case relativePath
    case parameters
    case secret

    package var description: String {
        switch self {
        case .notURL: "not a store URL; one looks like file:///srv/store"
        case .relativePath: "a file: URL needs an absolute path, as in file:///srv/store"
        case .parameters: "a file: URL takes no '?' or '#'; write %3F or %23 for these characters in a path"
        case .secret:
            "the store URL contains a secret, which every user could read; put it into a file with mode 0600 and "
                + "give -o credentials=FILE"
        }
    }
}
