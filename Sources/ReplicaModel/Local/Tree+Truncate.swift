internal import SystemPackage

extension Tree {
    /// Notes on a placeholder that it will be shorter than the store's content, before it is: a crash may come in between.
    /// - Returns: Whether it was not noted yet, and is now.
    func markTruncation(of node: Node, to size: Int64, _ file: HeldFile) throws(Errno) -> Bool {
        // An empty file becomes a whole one, which has no mark.
        guard node.kind == .file, node.materialization != .whole, size > 0, size < node.fingerprint.size else {
            return false
        }
        do throws(Errno) {
            // Another file in its place has no mark, and gets none.
            let said = try file.xattr(OwnXattr.dataless)
            guard mark.believes(said), said != mark.whenTruncated else { return false }
        } catch .noAttribute {
            return false
        }
        try file.setXattr(OwnXattr.dataless, to: mark.whenTruncated)
        return true
    }

    /// Truncated content needs no fetching any more.
    /// - Throws: As ``becomeWhole(_:_:)``.
    func truncateRanges(_ node: Node, to size: Int64, _ file: HeldFile) throws(Errno) {
        guard node.materialization != .whole else { return }
        node.ranges.truncate(to: size)
        if size == 0 { try becomeWhole(node, file) }
    }
}
