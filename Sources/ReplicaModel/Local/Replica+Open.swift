internal import CLinux
internal import Glibc
internal import SystemPackage

/// An open backing file.
package struct OpenFile: Sendable {
    /// Closed by the receiver.
    package let descriptor: Int32
    package let isWriter: Bool
    /// The item's generation then; see ``Replica/presence(of:range:since:placeholder:)``.
    package let generation: UInt32
    /// The inode number of the backing file if not all content is local: the file may be replaced then.
    package let placeholder: UInt64?
    /// Whether it had set-user-ID or set-group-ID when it was opened. The kernel writes with the daemon's rights,
    /// without CAP_FSETID, and clears the bits even if root writes, who would keep them.
    package let hasSetID: Bool
    /// Its size when it was opened, in bytes. Only a hint: writes through a mapping or to the backing tree are not
    /// reported.
    package let size: Int64
    /// Whether all content is local: the kernel may read and write the file itself, unless it has set-ID bits.
    package var isWhole: Bool { placeholder == nil }
}

extension Replica {
    /// open(2) without `O_CREAT`.
    /// - Returns: A file for which ``closed(_:isWriter:)`` has to be called.
    /// - Throws: ``ReplicaError/needsContent(_:)`` if it is opened for writing without truncation, and not all content
    ///   is local.
    package func open(_ item: some ItemReference, flags: Int32) throws(ReplicaError) -> OpenFile {
        let isWriter = flags & O_ACCMODE != O_RDONLY
        let truncates = flags & O_TRUNC != 0
        return try withTreeWaking(item.number, cuts: truncates) { (tree) throws(ReplicaError) in
            let node = try tree.node(item)
            try tree.demandAccess(to: node, flags: flags)
            if !truncates { try tree.demandCertainty(of: node) }
            if isWriter, !truncates, node.materialization != .whole { throw .needsContent(item.number) }
            let kept = flags & (O_ACCMODE | O_APPEND | CL_O_DIRECT | CL_O_NOATIME | O_SYNC | O_DSYNC)
            let descriptor = try tree.openKernelFile(node, kept)
            if truncates {
                do throws(Errno) {
                    try Self.truncate(descriptor, isWriter: isWriter)
                    try tree.becomeWhole(node, HeldFile(descriptor: descriptor))
                } catch {
                    Glibc.close(descriptor)
                    throw .errno(error)
                }
            }
            _ = fcntl(descriptor, F_SETFL, kept & ~O_ACCMODE)
            tree.noteUse(of: node)
            node.opens += 1
            if isWriter { tree.addWriter(node) }
            if truncates {
                for name in tree.items.names(of: node) { name.flags.remove(.doubtful) }
                for name in tree.items.names(of: node) { tree.edit(name, [.contents, .modificationDate]) }
            }
            if isWriter, flags & (O_SYNC | O_DSYNC) != 0 { tree.expectSyncedWrites(of: node) }
            return OpenFile(
                descriptor: descriptor, isWriter: isWriter, generation: node.generation,
                placeholder: node.materialization == .whole ? nil : node.fingerprint.inode,
                hasSetID: node.fingerprint.mode & FileStatus.setID != 0, size: truncates ? 0 : node.fingerprint.size)
        }
    }

    /// Truncates a file to zero, as `O_TRUNC` does, through the caller's own descriptor if possible: ext4 flushes what is
    /// written after the truncation (auto_da_alloc) only up to the next close.
    private static func truncate(_ descriptor: Int32, isWriter: Bool) throws(Errno) {
        guard isWriter else { return try HeldFile(descriptor: descriptor).truncate() }
        try Errno.check(ftruncate(descriptor, 0))
    }

    /// A descriptor of the current file, which replaces one opened for reading in `generation`, and its inode number.
    /// - Throws: ESTALE if part of the content was local in the meantime.
    package func reopen(
        _ number: ItemNumber, since generation: UInt32
    ) throws(ReplicaError) -> (descriptor: Int32, placeholder: UInt64) {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let node = try tree.node(number)
            guard node.generation == generation else { throw .errno(.stale) }
            return (try tree.openKernelFile(node, O_RDONLY), node.fingerprint.inode)
        }
    }

    /// Another descriptor of an open file, for calls that the kernel's passthrough does not serve.
    package func reopen(_ item: some ItemReference, flags: Int32) throws(ReplicaError) -> Int32 {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let node = try tree.node(item)
            do throws(ReplicaError) {
                return try tree.openKernelFile(node, flags)
            } catch .errno(.notPermitted) where flags & O_ACCMODE != O_RDONLY {
                // An append-only file.
                return try tree.openKernelFile(node, flags | O_APPEND)
            }
        }
    }
}

extension Tree {
    /// Each write will be synced, and we may see none of them: the file is marked as edited before the first.
    func expectSyncedWrites(of node: Node) {
        items.holder(of: node).hasSyncedWriter = true
        for name in items.names(of: node) where name.base != nil || name.flags.contains(.createSent) {
            edit(name, [.contents, .modificationDate])
            name.syncedSize = min(name.syncedSize ?? 1, 1)
            unrecorded.noteUnobservable()
        }
    }

    /// The cache evicts the least recently used files; a minute more or less doesn't matter.
    fileprivate func noteUse(of node: Node) {
        let isNews = store.recordsUse && clock.now() - node.usedAt > 60
        node.usedAt = clock.now()
        if isNews { note(node) }
    }
}
