import PercentEncoding

/// What a login is for: a server, or a bucket, and an account there. All folders of one share the login, so this is a store's URL
/// without its path.
package struct LoginPlace: Hashable, Sendable, CustomStringConvertible {
    /// As a URL. It contains no secret.
    package let text: String
    /// The user in the URL, percent-encoded.
    package let user: String?
    private let scheme: String
    /// The host or the bucket.
    private let host: String
    private let options: String

    package var description: String { text }

    /// Schemes of stores that need no login of ours.
    private static let without: Set = ["file", "sftp"]
    /// The options of a URL that say where a login goes, by scheme; those of a scheme that is not listed all do.
    private static let relevant: [String: Set<String>] = ["dav": [], "davs": [], "s3": ["endpoint", "profile"]]

    /// Nil for a store without a login: a directory, or a server that ssh reaches.
    package init?(_ url: StoreURL) {
        guard !Self.without.contains(url.scheme) else { return nil }
        guard StoreURL.beginning(of: url.scheme).hasSuffix("/") else {
            // One for all remotes: that of rclone's own configuration.
            self.init(scheme: url.scheme, user: nil, host: "", options: "")
            return
        }
        let parts = url.rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let authority = parts[0].prefix { $0 != "/" && $0 != "#" }
        let at = authority.lastIndex(of: "@")
        let options = parts.count > 1 ? parts[1].split(separator: "&").map(String.init) : []
        let kept = options.filter { option in
            Self.relevant[url.scheme]?.contains(String(option.prefix { $0 != "=" })) ?? true
        }
        self.init(
            scheme: url.scheme, user: at.map { String(authority[..<$0]) },
            host: authority[(at.map(authority.index(after:)) ?? authority.startIndex)...].lowercased(),
            options: kept.sorted().joined(separator: "&"))
    }

    private init(scheme: String, user: String?, host: String, options: String) {
        (self.scheme, self.user, self.host, self.options) = (scheme, user, host, options)
        let place = StoreURL.beginning(of: scheme) + (user.map { "\($0)@" } ?? "") + host
        text = options.isEmpty ? place : "\(place)?\(options)"
    }

    /// The same for another user, or for whichever there is.
    package func of(user: String?) -> LoginPlace {
        LoginPlace(
            scheme: scheme, user: user.map { PercentText.encoded($0.utf8) }, host: host, options: options)
    }

    /// Whether a login that is kept for a place is one for this, where no user is named.
    func takes(_ other: String) -> Bool {
        guard user == nil, let end = other.lastIndex(of: "@") else { return false }
        let beginning = StoreURL.beginning(of: scheme)
        return other.hasPrefix(beginning) && beginning + other[other.index(after: end)...] == text
    }
}
