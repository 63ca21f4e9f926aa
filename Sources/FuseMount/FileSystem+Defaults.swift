internal import SystemPackage

/// The answers for operations that a filesystem doesn't implement.
extension FileSystem {
    public var features: Features { [] }

    public func start(_ session: Session) {}

    public func stop() {}

    public func forget(_ nodes: UnsafeBufferPointer<Forget>) {}

    /// No counts; names of at most 255 bytes.
    public func statfs(_ context: RequestContext, node: NodeID, reply: consuming StatisticsReply) {
        reply.send(Statistics())
    }

    public func lookup(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, reply: consuming EntryReply
    ) {
        reply.fail(.noFunction)
    }

    public func mknod(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, mode: UInt32, device: UInt64,
        reply: consuming EntryReply
    ) {
        reply.fail(.noFunction)
    }

    public func mkdir(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, mode: UInt32,
        reply: consuming EntryReply
    ) {
        reply.fail(.noFunction)
    }

    public func symlink(
        _ context: RequestContext, target: UnsafePointer<CChar>, parent: NodeID, name: UnsafePointer<CChar>,
        reply: consuming EntryReply
    ) {
        reply.fail(.noFunction)
    }

    public func link(
        _ context: RequestContext, node: NodeID, parent: NodeID, name: UnsafePointer<CChar>,
        reply: consuming EntryReply
    ) {
        reply.fail(.noFunction)
    }

    public func unlink(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, reply: consuming EmptyReply
    ) {
        reply.fail(.noFunction)
    }

    public func rmdir(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, reply: consuming EmptyReply
    ) {
        reply.fail(.noFunction)
    }

    public func rename(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, newParent: NodeID,
        newName: UnsafePointer<CChar>, flags: RenameFlags, reply: consuming EmptyReply
    ) {
        reply.fail(.noFunction)
    }

    public func readlink(_ context: RequestContext, node: NodeID, reply: consuming LinkTargetReply) {
        reply.fail(.noFunction)
    }

    public func getattr(
        _ context: RequestContext, node: NodeID, handle: FileHandle?, reply: consuming AttributesReply
    ) {
        reply.fail(.noFunction)
    }

    public func statx(_ context: RequestContext, node: NodeID, handle: FileHandle?, reply: consuming BirthReply) {
        reply.fail(.noFunction)
    }

    public func setattr(
        _ context: RequestContext, node: NodeID, handle: FileHandle?, changes: AttributeChanges,
        reply: consuming AttributesReply
    ) {
        reply.fail(.noFunction)
    }

    public func access(_ context: RequestContext, node: NodeID, mask: Int32, reply: consuming EmptyReply) {
        reply.fail(.noFunction)
    }

    public func getxattr(
        _ context: RequestContext, node: NodeID, name: UnsafePointer<CChar>, size: Int,
        reply: consuming AttributeValueReply
    ) {
        reply.fail(.noFunction)
    }

    public func setxattr(
        _ context: RequestContext, node: NodeID, name: UnsafePointer<CChar>, value: UnsafeRawBufferPointer,
        flags: Int32, killsSetGroupID: Bool, reply: consuming EmptyReply
    ) {
        reply.fail(.noFunction)
    }

    public func listxattr(_ context: RequestContext, node: NodeID, size: Int, reply: consuming AttributeValueReply) {
        reply.fail(.noFunction)
    }

    public func removexattr(
        _ context: RequestContext, node: NodeID, name: UnsafePointer<CChar>, reply: consuming EmptyReply
    ) {
        reply.fail(.noFunction)
    }

    public func open(_ context: RequestContext, node: NodeID, options: OpenOptions, reply: consuming OpenReply) {
        reply.fail(.noFunction)
    }

    public func create(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, mode: UInt32, options: OpenOptions,
        reply: consuming CreateReply
    ) {
        reply.fail(.noFunction)
    }

    public func tmpfile(
        _ context: RequestContext, parent: NodeID, mode: UInt32, options: OpenOptions, reply: consuming CreateReply
    ) {
        reply.fail(.noFunction)
    }

    public func read(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DataReply
    ) {
        reply.fail(.noFunction)
    }

    public func write(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, buffer: UnsafeRawBufferPointer,
        options: WriteOptions, reply: consuming CountReply
    ) {
        reply.fail(.noFunction)
    }

    public func flush(
        _ context: RequestContext, node: NodeID, handle: FileHandle, lockOwner: UInt64, reply: consuming EmptyReply
    ) {
        reply.fail(.noFunction)
    }

    public func release(
        _ context: RequestContext, node: NodeID, handle: FileHandle, flags: Int32, reply: consuming EmptyReply
    ) {
        reply.fail(.noFunction)
    }

    public func fsync(
        _ context: RequestContext, node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply
    ) {
        reply.fail(.noFunction)
    }

    public func fallocate(
        _ context: RequestContext, node: NodeID, handle: FileHandle, mode: Int32, offset: Int64, length: Int64,
        reply: consuming EmptyReply
    ) {
        reply.fail(.noFunction)
    }

    public func lseek(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, whence: Int32,
        reply: consuming OffsetReply
    ) {
        reply.fail(.noFunction)
    }

    public func copyRange(
        _ context: RequestContext, from source: FileRange, to destination: FileRange, length: Int, flags: Int32,
        reply: consuming CountReply
    ) {
        reply.fail(.noFunction)
    }

    public func ioctl(
        _ context: RequestContext, node: NodeID, handle: FileHandle, request: UInt32, input: UnsafeRawBufferPointer,
        room: Int, reply: consuming ControlReply
    ) {
        reply.fail(.noFunction)
    }

    public func opendir(_ context: RequestContext, node: NodeID, flags: Int32, reply: consuming OpenReply) {
        reply.fail(.noFunction)
    }

    public func readdir(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DirectoryReply
    ) {
        reply.fail(.noFunction)
    }

    public func readdirplus(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DirectoryReply
    ) {
        reply.fail(.noFunction)
    }

    public func releasedir(_ context: RequestContext, node: NodeID, handle: FileHandle, reply: consuming EmptyReply) {
        reply.fail(.noFunction)
    }

    public func fsyncdir(
        _ context: RequestContext, node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply
    ) {
        reply.fail(.noFunction)
    }

    public func getlk(
        _ context: RequestContext, node: NodeID, handle: FileHandle, lock: FileLock, reply: consuming LockReply
    ) {
        reply.fail(.noFunction)
    }

    public func setlk(
        _ context: RequestContext, node: NodeID, handle: FileHandle, lock: FileLock, wait: Bool,
        reply: consuming EmptyReply
    ) {
        reply.fail(.noFunction)
    }

    public func flock(
        _ context: RequestContext, node: NodeID, handle: FileHandle, owner: UInt64, operation: Int32,
        reply: consuming EmptyReply
    ) {
        reply.fail(.noFunction)
    }
}
