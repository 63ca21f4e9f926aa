internal import FuseMount
internal import ReplicaModel

extension FuseMount.Entry {
    init(_ entry: KernelEntry) {
        self.init(
            node: NodeNumber.of(entry.number, generation: entry.generation), attributes: Attributes(entry.status),
            entryTimeout: CacheTimeout.long, attributeTimeout: entry.timeout)
    }
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
