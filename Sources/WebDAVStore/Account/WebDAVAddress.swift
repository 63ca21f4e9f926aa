import Glibc
import HTTPClient
import PercentEncoding
package import ReplicaModel

/// A folder of a server: `davs://[user@]host[:port]/path`, and `dav://` without TLS.
package struct WebDAVAddress: Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with a URL, in one line.
    package struct Invalid: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// The names of the URL's options. The manual page has each of them (`StorePageTests`).
    package enum Option: String, CaseIterable {
        case authorities = "ca"
        case clear
    }

    package let isSecure: Bool
    package let user: String?
    /// In lower case, without a port; with brackets around an IPv6 address.
    package let host: String
    package let port: UInt16?
    /// The names of the store's folder; empty for the whole server.
    package private(set) var path: [FileName]
    /// A file of certificates instead of the system's.
    package var authorities: String?
    /// Whether a password may be sent unencrypted without TLS.
    package private(set) var mayShowPassword = false

    package var description: String { "\(isSecure ? "davs" : "dav")://\(server)/\(Self.joined(path))" }

    /// The whole server.
    var root: WebDAVAddress {
        var address = self
        address.path = []
        return address
    }

    /// The host, with its port if given.
    var server: String { host + (port.map { ":\($0)" } ?? "") }

    /// Whether requests stay on this machine. Of names, only one does: `127.example.org` is any server.
    var isLocal: Bool {
        var address = in_addr()
        if inet_pton(AF_INET, host, &address) == 1 { return address.s_addr.bigEndian >> 24 == 127 }
        return host == "localhost" || host == "[::1]"
    }

    private static func joined(_ names: [FileName]) -> String {
        names.map { PercentText.encoded($0.bytes) }.joined(separator: "/")
    }

    /// The URL of a path below the store's folder.
    /// - Parameters:
    ///   - isFolder: Whether it gets a slash at its end, which some servers require.
    ///   - isAbsolute: Whether the names start at the server's root.
    func url(_ names: [FileName], isFolder: Bool, isAbsolute: Bool = false) -> String {
        let all = isAbsolute ? names : path + names
        let slash = isFolder && !all.isEmpty ? "/" : ""
        return "\(isSecure ? "https" : "http")://\(server)/\(Self.joined(all))\(slash)"
    }

    /// - Parameter rest: The part after `davs://` or `dav://`.
    package init(_ rest: String, isSecure: Bool) throws(Invalid) {
        self.isSecure = isSecure
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard !rest.contains("#") else { throw Invalid(description: "write %23 for '#' in the URL's path") }
        let authority = parts[0].prefix { $0 != "/" }
        let at = authority.lastIndex(of: "@")
        user = try at.map { index throws(Invalid) in try Self.user(authority[..<index]) }
        (host, port) = try Self.host(authority[(at.map(authority.index(after:)) ?? authority.startIndex)...])
        path = try Self.path(parts[0][authority.endIndex...])
        if parts.count > 1 { try take(parts[1]) }
    }

    private mutating func take(_ options: Substring) throws(Invalid) {
        for option in options.split(separator: "&") {
            let pair = option.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2, let value = Self.text(pair[1]) else {
                throw Invalid(description: "the URL's option \(pair.first ?? "") has no value")
            }
            switch (Option(rawValue: pair[0]), value) {
            case (.authorities, _): authorities = value
            case (.clear, "yes"): mayShowPassword = true
            default: throw Invalid(description: "the URL has an unknown option; there are ca=FILE and clear=yes")
            }
        }
    }

    /// Percent-encoded text without control characters.
    private static func text(_ text: some StringProtocol) -> String? {
        guard let bytes = PercentText.decoded(text), !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            return nil
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func user(_ text: Substring) throws(Invalid) -> String {
        guard let user = Self.text(text), (1...255).contains(user.utf8.count), !user.utf8.contains(UInt8(ascii: ":"))
        else {
            throw Invalid(description: "the URL's user is not valid")
        }
        return user
    }

    private static func host(_ text: Substring) throws(Invalid) -> (String, UInt16?) {
        let wrong = Invalid(
            description: "the URL's host may contain only letters, digits and . _ -, or be [an IPv6 address]")
        var (name, rest) = (text.prefix { $0 != ":" }, text.drop { $0 != ":" })
        var plain = name
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            name = text[...end]
            plain = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
            guard plain.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }), plain.contains(":") else {
                throw wrong
            }
        } else {
            guard name.utf8.allSatisfy({ PercentText.isAlphanumeric($0) || "._-".utf8.contains($0) }) else {
                throw wrong
            }
        }
        guard !plain.isEmpty, !plain.hasPrefix("-"), plain.utf8.count <= 255 else { throw wrong }
        if rest.isEmpty { return (name.lowercased(), nil) }
        guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()), port > 0 else {
            throw Invalid(description: "the URL's port is not valid")
        }
        return (name.lowercased(), port)
    }

    private static func path(_ text: Substring) throws(Invalid) -> [FileName] {
        var names = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        if names.last == "" { names.removeLast() }
        var path: [FileName] = []
        for name in names {
            guard let bytes = PercentText.decoded(name), String(validating: bytes, as: UTF8.self) != nil else {
                throw Invalid(description: "the URL's path is not percent-encoded UTF-8")
            }
            let name = FileName(bytes: bytes)
            guard name.isValid, !bytes.contains(where: { $0 < 0x20 }) else {
                throw Invalid(description: "the URL's path contains an invalid name")
            }
            path.append(name)
        }
        return path
    }
}
