import PercentEncoding

/// A folder of a remote: the part after `rclone:` in a store's URL, in rclone's own form (`remote:path`).
package struct RcloneAddress: Hashable, Sendable, CustomStringConvertible {
    /// What is wrong with a URL, in one line.
    package struct Invalid: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// rclone's `fs`: `remote:path`, without a slash at the end.
    package let root: String

    package var description: String { "rclone:\(root)" }

    /// The remote, without its colon and its parameters.
    var remote: String {
        let name = root.hasPrefix(":") ? root.dropFirst() : root[...]
        return (root.hasPrefix(":") ? ":" : "") + name.prefix { $0 != ":" && $0 != "," }
    }

    /// - Parameter text: A store's URL, with or without `//` after the colon.
    package init(_ text: String) throws(Invalid) {
        guard text.lowercased().hasPrefix("rclone:") else { throw Invalid(description: "not an rclone URL") }
        var rest = text.dropFirst("rclone:".count)
        if rest.hasPrefix("//") { rest = rest.dropFirst(2) }
        while rest.hasSuffix("/"), !rest.hasSuffix(":/") { rest = rest.dropLast() }
        guard !rest.isEmpty else {
            throw Invalid(description: "the URL has no remote; its form is rclone:remote:path")
        }
        guard !rest.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw Invalid(description: "the URL has control characters")
        }
        // rclone's server takes the text between the brackets of a request as the remote.
        guard !rest.contains("]") else {
            throw Invalid(description: "rclone can't read files below a path with ']' in it: rename the folder")
        }
        let remote = RcloneRemoteText(rest)
        guard remote.isWhole || remote.hasSecret, !remote.name.isEmpty, !remote.name.contains("/") else {
            throw Invalid(
                description:
                    "'\(rest.prefix(80))' is not a remote; its form is rclone:remote:path, with a colon after it")
        }
        guard !remote.hasSecret else {
            throw Invalid(
                description:
                    "the URL contains a secret, which every user could read; make a remote of it with rclone config")
        }
        root = String(rest)
    }

    /// A subfolder as an `fs` of rclone.
    func folder(_ path: String) -> String {
        if path.isEmpty { return root }
        return root.hasSuffix(":") || root.hasSuffix("/") ? root + path : "\(root)/\(path)"
    }
}
