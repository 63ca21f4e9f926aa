internal import CLinux
internal import Glibc
internal import SystemPackage

/// What tells a file of the backing tree from all others, whatever happens to it.
struct FileIdentity: Hashable {
    var inode: UInt64
    /// Nanoseconds since the epoch; 0 where the filesystem keeps none.
    var born: Int64

    init(_ status: FileStatus) { (inode, born) = (status.inode, status.born.nanoseconds) }

    init(_ fingerprint: FileFingerprint) { (inode, born) = (fingerprint.inode, fingerprint.born) }
}

/// The kernel checks who may do what by the attributes that it was told. They are those of one file: what has that file's
/// name by now, because somebody exchanged the two below the mount, may be another's, which root alone may read.
///
/// So each node ID of the kernel stands for one file below. When another has its place the item gets a new generation, and
/// with it a new node ID, and a call that was allowed for the former file fails with ESTALE: the kernel looks the name up
/// again then, and checks anew.
extension Tree {
    /// How often a file may be exchanged as long as the kernel knows it: a node ID has 20 bits of the generation, and none may
    /// come to stand for another file again.
    private static let mostGenerations: UInt32 = 1 << 20 - 1

    /// Notes that the kernel is about to be told that the node's file is the one with this status.
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

    /// Makes sure that a file which is held is the one that the kernel knows as the node's: it allowed a call for that one.
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

    /// Opens the node's file, if it is the one that the kernel knows; nothing is done to another.
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
    /// Makes sure that what is held below is the file that is known of the item: what the store says of one is never done to
    /// another that somebody put in its place.
    func demandKnown(_ status: FileStatus) throws(Errno) {
        guard FileIdentity(status) == FileIdentity(fingerprint) else { throw Errno(rawValue: Glibc.ESTALE) }
    }
}
