internal import FuseMount
internal import ReplicaModel
internal import SystemPackage

/// The kernel's node ID of an item: the item's number and, in the upper bits, the generation, so that a file that replaced
/// another is a different inode for the kernel while programs see the same `st_ino`.
enum NodeNumber {
    private static let shift: UInt64 = 44
    private static let mask: UInt64 = 1 << shift - 1

    static func of(_ number: ItemNumber, generation: UInt32 = 0) -> NodeID {
        number.rawValue & mask | UInt64(generation) << shift
    }

    /// The item, whichever file it has now.
    static func number(_ node: NodeID) -> ItemNumber { ItemNumber(node & mask) }

    /// The lower 20 bits of the generation.
    static func generation(_ node: NodeID) -> UInt32 { UInt32(node >> shift) }

    /// The item with the file that the kernel knows, for everything that a program asks for.
    static func item(_ node: NodeID) -> KernelItem { KernelItem(number(node), generation: generation(node)) }
}

/// How long the kernel may cache entries and attributes: long, since we own the tree and report all changes.
enum Timeout {
    /// Seconds.
    static let long = 3600.0
    /// For the status of a file that is open for writing: stores to a mapping change its times without the kernel's
    /// FUSE inode noticing. Within a tick of the clock for file timestamps, the times would be the same anyway.
    static let tick = 0.001
}

extension FuseMount.Entry {
    init(_ entry: ReplicaModel.Entry) {
        self.init(
            node: NodeNumber.of(entry.number, generation: entry.generation), attributes: Attributes(entry.status),
            entryTimeout: Timeout.long, attributeTimeout: entry.timeout)
    }
}

extension ReplicaModel.Entry {
    /// How long the status may be cached, in seconds: not at all if a write that we don't see may clear its set-ID
    /// bits.
    var timeout: Double { isSteady ? Timeout.long : status.hasSetID && status.kind == .file ? 0 : Timeout.tick }
}

extension Attributes {
    init(_ status: FileStatus) {
        self.init(ino: status.inode, mode: status.mode, nlink: UInt(status.links), uid: status.user, gid: status.group)
        size = status.size
        blocks = status.blocks
        blksize = Int(status.blockSize)
        rdev = UInt(status.special)
        atime = status.accessed.timespec
        mtime = status.modified.timespec
        ctime = status.changed.timespec
    }
}

extension Caller {
    init(_ context: RequestContext) {
        self.init(user: context.uid, group: context.gid, umask: UInt16(truncatingIfNeeded: context.umask))
    }
}
