internal import CLinux
internal import Glibc
internal import SystemPackage

/// Identifies a file of the backing tree permanently.
struct FileIdentity: Hashable {
    var inode: UInt64
    /// Nanoseconds since the epoch; 0 where the filesystem keeps none.
    var born: Int64

    init(_ status: FileStatus) { (inode, born) = (status.inode, status.born.nanoseconds) }

    init(_ fingerprint: FileFingerprint) { (inode, born) = (fingerprint.inode, fingerprint.born) }
}

/// The kernel checks permissions by the attributes that it was told, which are those of one particular file. A file
/// that took over its name, because somebody exchanged the two in the backing tree, may be one that only root may read.
///
/// Therefore each node ID of the kernel stands for one backing file. If another file takes its place, the item gets a
/// new generation, and with it a new node ID, and a call that was allowed for the former file fails with ESTALE: the
/// kernel then looks the name up again and checks permissions again.
extension Tree {
    /// How often a file may be exchanged as long as the kernel knows it: a node ID has 20 bits of the generation, and none may
    /// come to stand for another file again.
    private static let mostGenerations: UInt32 = 1 << 20 - 1

    /// Records which backing file the kernel is about to be told for the node.
    /// - Returns: The node that has what the kernel holds of the file: it may be another of its names.
    /// - Throws: ESTALE when it was exchanged too often.
    @discardableResult
    func show(_ status: FileStatus, as node: Node) throws(ReplicaError) -> Node {
        let known = items.holder(of: node)
        let identity = FileIdentity(status)
        guard known.lookups > 0 || known.opens > 0, let shown = known.shown, shown != identity else {
            known.shown = identity
            return known
        }
        guard node.parent != nil, known.generation < Self.mostGenerations else {
            throw .errno(Errno(rawValue: Glibc.ESTALE))
        }
        if items.names(of: node).count > 1 {
            // Its other names are still the old file's.
            separate(node)
            node.shown = identity
            return node
        }
        known.shown = identity
        known.generation += 1
        if node.kind == .folder { closeDescriptor(of: node) }
        return known
    }

    /// Throws unless a held file is the one that the kernel knows for the node, because its permission check was made
    /// for that one.
    /// - Throws: ESTALE where it is another.
    func demandShown(_ status: FileStatus, as node: Node) throws(ReplicaError) {
        guard let shown = items.holder(of: node).shown, shown != FileIdentity(status) else { return }
        try show(status, as: node)
        throw .errno(Errno(rawValue: Glibc.ESTALE))
    }

    /// Calls `body` with the node's file, if it is the one that the kernel knows.
    /// - Throws: ESTALE where it is another, and what `body` throws.
    func hold<Result>(
        _ node: Node, _ body: (HeldFile) throws(Errno) -> Result
    ) throws(ReplicaError) -> Result {
        let descriptor = try openShown(node, CL_O_PATH)
        defer { close(descriptor) }
        return try errnos { () throws(Errno) in try body(HeldFile(descriptor: descriptor)) }
    }

    /// Opens the node's file, if it is the one that the kernel knows; any other file is left alone.
    /// - Parameter flags: Without `O_TRUNC`, which would.
    /// - Throws: ESTALE where it is another.
    func openShown(_ node: Node, _ flags: Int32) throws(ReplicaError) -> Int32 {
        let place = try place(of: node)
        let descriptor = try errnos { () throws(Errno) in try place.open(flags) }
        do throws(ReplicaError) {
            let status = try errnos { () throws(Errno) in
                let status = try FileStatus(descriptor: descriptor)
                try node.demandKind(of: status)
                return status
            }
            try demandShown(status, as: node)
            return descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }
}

extension Node {
    /// Throws unless the held file is the one known for the item: the store's changes of an item must never be applied
    /// to another file that somebody put in its place.
    func demandKnown(_ status: FileStatus) throws(Errno) {
        guard FileIdentity(status) == FileIdentity(fingerprint) else { throw Errno(rawValue: Glibc.ESTALE) }
    }
}
