internal import CLinux
internal import Glibc
internal import SystemPackage

extension Replica {
    /// Opens a complete, unedited local file, to compare it with the store's content of the same version.
    /// - Returns: An open file, which the caller closes, and its state; nil if it is being written or was replaced.
    func openToCompare(_ number: ItemNumber, _ item: Item) -> (descriptor: Int32, fingerprint: FileFingerprint)? {
        // A file that can't be opened now is tried again later.
        try? openWhole(number, item) { !$0.dirty.contains(.contents) }
    }

    /// Opens a complete local file that has the item's size and that `isMeant` accepts.
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

    /// Whether a file is unchanged.
    func isUnchanged(_ number: ItemNumber, since fingerprint: FileFingerprint) -> Bool {
        withTree { tree in
            guard let node = tree.items[number], !tree.isWritten(node) else { return false }
            tree.settle(node)
            return node.fingerprint == fingerprint
        }
    }

    /// Checks whether both sides wrote the same content, which is no conflict.
    /// - Parameter staged: The store's content; nil where it has none.
    /// - Returns: Whether the item's content is now in sync.
    func mergeIfEqual(_ number: ItemNumber, _ item: Item, _ staged: StagedContent?) throws(ReplicaError) -> Bool {
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

    /// The bytes from `offset` on: a whole chunk, or less at the file's end.
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
