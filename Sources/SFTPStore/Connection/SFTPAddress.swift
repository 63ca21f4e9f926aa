import PercentEncoding

/// The location of a store: `sftp://[user@]host[:port]/path`. The host may be a name in the user's ssh_config(5).
package struct SFTPAddress: Hashable, Sendable, CustomStringConvertible {
    package let user: String?
    package let host: String
    package let port: UInt16?
    /// Absolute, or relative to the login's home for `/~/path`; the relative path may be empty.
    package let path: [UInt8]

    /// What is wrong with a URL, in one line.
    package struct Invalid: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// - Parameter rest: The part after `sftp://`.
    /// - Throws: If it can't be a login, or could be taken for an option of ssh(1).
    package init(_ rest: String) throws(Invalid) {
        guard !rest.contains("?"), !rest.contains("#") else {
            throw Invalid(description: "an sftp: URL can't contain '?' or '#': write %3F or %23 in a path")
        }
        let authority = rest.prefix { $0 != "/" }
        let at = authority.lastIndex(of: "@")
        user = try at.map { index throws(Invalid) in try Self.user(authority[..<index]) }
        (host, port) = try Self.host(authority[(at.map(authority.index(after:)) ?? authority.startIndex)...])
        path = try Self.path(rest[authority.endIndex...])
    }

    private static func user(_ text: Substring) throws(Invalid) -> String {
        guard let bytes = PercentText.decoded(text), let user = String(validating: bytes, as: UTF8.self), !user.isEmpty,
            user.utf8.count <= 255, isPlain(user, beside: "._-+@")
        else { throw Invalid(description: "the URL's user may contain only letters, digits and . _ - + @") }
        return user
    }

    private static func host(_ text: Substring) throws(Invalid) -> (String, UInt16?) {
        let wrong = Invalid(
            description: "the URL's host may contain only letters, digits and . _ -, or be [an IPv6 address]")
        var (name, rest) = (text.prefix { $0 != ":" }, text.drop { $0 != ":" })
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            name = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
            guard name.contains(":"), isPlain(String(name), beside: ".:%") else { throw wrong }
        } else {
            guard isPlain(String(name), beside: "._-") else { throw wrong }
        }
        guard !name.isEmpty, name.utf8.count <= 255 else { throw wrong }
        if rest.isEmpty { return (String(name), nil) }
        guard rest.hasPrefix(":"), let port = UInt16(rest.dropFirst()), port > 0 else {
            throw Invalid(description: "the URL's port is not valid")
        }
        return (String(name), port)
    }

    private static func path(_ text: Substring) throws(Invalid) -> [UInt8] {
        guard text.hasPrefix("/") else {
            throw Invalid(description: "an sftp: URL needs a path, as in sftp://host/srv/store or sftp://host/~/store")
        }
        guard var path = PercentText.decoded(text), !path.contains(0) else {
            throw Invalid(description: "the URL's path is not percent-encoded")
        }
        if path.starts(with: Array("/~/".utf8)) || path == Array("/~".utf8) { path = Array(path.dropFirst(3)) }
        while path.count > 1, path.last == UInt8(ascii: "/") { path.removeLast() }
        return path
    }

    /// Whether it has only letters, digits and a few other characters, and is not an option.
    private static func isPlain(_ text: String, beside more: String) -> Bool {
        guard !text.hasPrefix("-") else { return false }
        return text.utf8.allSatisfy { PercentText.isAlphanumeric($0) || more.utf8.contains($0) }
    }

    /// `user@host`, as an argument of `ssh`.
    package var login: String { (user.map { "\($0)@" } ?? "") + host }

    package var description: String { login + (port.map { ":\($0)" } ?? "") }
}
