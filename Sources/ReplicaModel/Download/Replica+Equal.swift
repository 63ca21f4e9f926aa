internal import CLinux
internal import Glibc
internal import SystemPackage

extension Replica {
    /// Opens a file that is here in whole and not edited, to compare it with the store's of the same version.
    /// - Returns: An open file, the caller's to close, and what it is; nil when it is written, or another by now.
    func openToCompare(_ number: ItemNumber, _ item: Item) -> (descriptor: Int32, fingerprint: FileFingerprint)? {
        // What cannot be opened now is asked for again.
        try? openWhole(number, item) { !$0.dirty.contains(.contents) }
    }

    /// Opens a file that is here in whole, has the item's size, and is what is demanded.
    private func openWhole(
        _ number: ItemNumber, _ item: Item, where isMeant: (Node) -> Bool = { _ in true }
    ) throws(ReplicaError) -> (descriptor: Int32, fingerprint: FileFingerprint)? {
        try withTreeWaking { (tree) throws(ReplicaError) -> (descriptor: Int32, fingerprint: FileFingerprint)? in
            guard let node = tree.items[number], node.materialization == .whole, !tree.isWritten(node) else {
                return nil
            }
            tree.settle(node)
            guard node.fingerprint.size == item.size, isMeant(node) else { return nil }
            let place = try tree.place(of: node)
            let file = try errnos { () throws(Errno) in try place.open(O_RDONLY | CL_O_NOATIME) }
            return (file, node.fingerprint)
        }
    }

    /// Whether a file is still what it was.
    func isUnchanged(_ number: ItemNumber, since fingerprint: FileFingerprint) -> Bool {
        withTree { tree in
            guard let node = tree.items[number], !tree.isWritten(node) else { return false }
            tree.settle(node)
            return node.fingerprint == fingerprint
        }
    }

    /// Finds out whether both sides wrote the same: that is no conflict.
    /// - Parameter staged: The store's content; nil where it has none.
    /// - Returns: Whether the item's content counts as in step from now on.
    func meetEqual(_ number: ItemNumber, _ item: Item, _ staged: StagedContent?) throws(ReplicaError) -> Bool {
        guard staged?.version == item.version.content || item.size == 0 else { return false }
        guard let (file, fingerprint) = try openWhole(number, item) else { return false }
        defer { Glibc.close(file) }
        if let staged {
            let isSame = try errnos { () throws(Errno) in try Self.isSame(file, staged.path) }
            guard isSame else { return false }
        }
        return withTree { tree in
            guard let node = tree.items[number], var base = node.base, !tree.isWritten(node) else { return false }
            tree.settle(node)
            guard node.fingerprint == fingerprint else { return false }
            base.version.content = item.version.content
            base.size = item.size
            node.dirty.remove(.contents)
            tree.setBase(base, of: node)
            return true
        }
    }

    /// Whether an open file has the same bytes as the one at `path`.
    private static func isSame(_ file: Int32, _ path: FilePath) throws(Errno) -> Bool {
        let other = try Errno.check(path.withPlatformString { Glibc.open($0, O_RDONLY | O_CLOEXEC) })
        defer { Glibc.close(other) }
        let size = try FileStatus(descriptor: file).size
        guard try FileStatus(descriptor: other).size == size else { return false }
        var offset: Int64 = 0
        while true {
            offset = DataRanges.next(
                of: FileDescriptor(rawValue: file), or: FileDescriptor(rawValue: other), in: offset..<max(offset, size))
            let left = try read(file, at: offset)
            guard try read(other, at: offset) == left else { return false }
            if left.isEmpty { return true }
            offset += Int64(left.count)
        }
    }

    private static let chunk = 1 << 18

    /// The bytes from `offset` on: a whole chunk, but at the file's end.
    private static func read(_ file: Int32, at offset: Int64) throws(Errno) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: chunk)
        var filled = 0
        while filled < chunk {
            let count = try Errno.check(
                bytes.withUnsafeMutableBytes { raw in
                    pread(file, raw.baseAddress! + filled, chunk - filled, Int(offset) + filled)
                })
            if count == 0 { break }
            filled += count
        }
        return Array(bytes.prefix(filled))
    }
}
