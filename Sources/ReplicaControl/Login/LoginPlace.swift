import PercentEncoding

/// The server or bucket, and the account there, that a login is for. All its folders share the login, so this is a store's URL
/// without its path.
package struct LoginPlace: Hashable, Sendable, CustomStringConvertible {
    /// The place as a URL, without secrets.
    package let text: String
    /// The user in the URL, percent-encoded in one way.
    package let user: String?
    private let scheme: String
    /// The host or the bucket; the path of a URL that has neither.
    private let host: String
    private let options: String

    package var description: String { text }

    /// Schemes of stores that need no saved login.
    private static let without: Set = ["file", "sftp"]
    /// The options of a URL that are part of the place, by scheme; for a scheme that is not listed, all are.
    private static let relevant: [String: Set<String>] = ["dav": [], "davs": [], "s3": ["endpoint", "profile"]]
    /// Schemes with host names, which are case-insensitive.
    private static let caseless: Set = ["dav", "davs"]

    /// Nil for a store without a login: a directory, or a server that ssh reaches.
    package init?(_ url: StoreURL) {
        guard !Self.without.contains(url.scheme) else { return nil }
        guard StoreURL.beginning(of: url.scheme).hasSuffix("/") else {
            // One login for all remotes: the password of rclone's configuration.
            self.init(scheme: url.scheme, user: nil, host: "", options: "")
            return
        }
        let rest = url.rest.utf8
        let beforeOptions = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        let authority = beforeOptions.prefix { $0 != UInt8(ascii: "/") }
        let at = authority.lastIndex(of: UInt8(ascii: "@"))
        var host = SecretLines.string(authority[(at.map(authority.index(after:)) ?? authority.startIndex)...])
        if Self.caseless.contains(url.scheme) { host = host.lowercased() }
        if authority.isEmpty { host = Self.path(beforeOptions) }
        let options = rest.drop { $0 != UInt8(ascii: "?") }.dropFirst().split(separator: UInt8(ascii: "&"))
        let kept = options.map { (name: Self.name($0), text: SecretLines.string($0)) }.filter { option in
            Self.relevant[url.scheme]?.contains(option.name) ?? true
        }
        self.init(
            scheme: url.scheme, user: at.map { Self.normal(SecretLines.string(authority[..<$0])) }, host: host,
            options: Self.ordered(kept).joined(separator: "&"))
    }

    private static func name(_ option: Substring.UTF8View) -> String {
        SecretLines.string(option.prefix { $0 != UInt8(ascii: "=") })
    }

    /// Sorted by name; options of the same name keep their order, because the first or the last may apply.
    private static func ordered(_ options: [(name: String, text: String)]) -> [String] {
        options.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element.text)
    }

    private init(scheme: String, user: String?, host: String, options: String) {
        (self.scheme, self.user, self.host, self.options) = (scheme, user, host, options)
        let place = StoreURL.beginning(of: scheme) + (user.map { "\($0)@" } ?? "") + host
        text = options.isEmpty ? place : "\(place)?\(options)"
    }

    private static func path(_ text: Substring.UTF8View) -> String {
        var path = text
        while path.last == UInt8(ascii: "/") { path.removeLast() }
        return SecretLines.string(path)
    }

    // MARK: Users

    /// The same place with another user.
    package func of(user: String) -> LoginPlace {
        LoginPlace(scheme: scheme, user: PercentText.encoded(user.utf8), host: host, options: options)
    }

    /// The user in the URL as text; nil also for one that is not UTF-8, or contains control characters.
    package var userName: String? { user.flatMap(Self.decoded) }

    private static func decoded(_ user: String) -> String? {
        PercentText.decoded(user).flatMap { String(validating: $0, as: UTF8.self) }.flatMap {
            SecretLines.hasControl($0) ? nil : $0
        }
    }

    /// All spellings of a user are the same place.
    private static func normal(_ user: String) -> String {
        decoded(user).map { PercentText.encoded($0.utf8) } ?? user
    }

    /// Whether a login saved for another place applies here: the same place in another spelling, or for any user if none is named.
    func takes(_ other: String) -> Bool {
        guard let url = try? StoreURL(other), let place = LoginPlace(url) else { return false }
        return (place.scheme, place.host, place.options) == (scheme, host, options)
            && (place.user == user || user == nil)
    }
}
