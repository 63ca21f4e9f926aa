/// A filesystem: one method for each thing the kernel asks. What isn't implemented answers ENOSYS.
///
/// Methods run on the session's worker threads, many at once, and may block for as long as a local filesystem would.
/// What takes longer parks its reply (``Reply/park()``). They must not touch their own mount. Pointers (names,
/// buffers) are valid during the call only. The kernel stops asking what it got ENOSYS for where that makes sense:
/// `open`, `opendir`, `flush`, `fsync`, `access`, `xattr`, `lseek`, `copyRange`, `statx`, `tmpfile`.
///
/// Modes in `mknod`, `mkdir`, `create` and `tmpfile` come as the program gave them: the filesystem takes off
/// ``RequestContext/umask`` (unless a default ACL is in its place) and gives what it makes to the caller.
public protocol FileSystem: AnyObject, Sendable {
    /// Read once, when the session is made.
    var features: Features { get }

    /// The mount is live: the kernel said hello and ``Session/supportsPassthrough`` is known. Before every request.
    func start(_ session: Session)

    /// The mount is gone and every reply answered. After every request; what was not forgotten counts as forgotten.
    func stop()

    // MARK: Names

    /// Finds a name in a folder. Answer ``Entry/negative(timeout:)`` to have its absence remembered.
    func lookup(_ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, reply: consuming EntryReply)

    /// The kernel drops nodes. There is no reply.
    func forget(_ nodes: UnsafeBufferPointer<Forget>)

    func mknod(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, mode: UInt32, device: UInt64,
        reply: consuming EntryReply)

    func mkdir(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, mode: UInt32,
        reply: consuming EntryReply)

    func symlink(
        _ context: RequestContext, target: UnsafePointer<CChar>, parent: NodeID, name: UnsafePointer<CChar>,
        reply: consuming EntryReply)

    func link(
        _ context: RequestContext, node: NodeID, parent: NodeID, name: UnsafePointer<CChar>,
        reply: consuming EntryReply)

    func unlink(_ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, reply: consuming EmptyReply)

    func rmdir(_ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, reply: consuming EmptyReply)

    func rename(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, newParent: NodeID,
        newName: UnsafePointer<CChar>, flags: RenameFlags, reply: consuming EmptyReply)

    func readlink(_ context: RequestContext, node: NodeID, reply: consuming LinkTargetReply)

    // MARK: Attributes

    /// - Parameter handle: the open file that is asked about, as with fstat(2).
    func getattr(_ context: RequestContext, node: NodeID, handle: FileHandle?, reply: consuming AttributesReply)

    /// Like `getattr`, with the time of birth. Not asked again after ENOSYS.
    func statx(_ context: RequestContext, node: NodeID, handle: FileHandle?, reply: consuming BirthReply)

    /// Changes attributes and answers the new ones. Truncation comes here too.
    func setattr(
        _ context: RequestContext, node: NodeID, handle: FileHandle?, changes: AttributeChanges,
        reply: consuming AttributesReply)

    /// access(2), only without `defaultPermissions`.
    /// - Parameter mask: R_OK, W_OK, X_OK, or F_OK.
    func access(_ context: RequestContext, node: NodeID, mask: Int32, reply: consuming EmptyReply)

    func statfs(_ context: RequestContext, node: NodeID, reply: consuming StatisticsReply)

    /// - Parameter size: the caller's room; 0 asks for the length only.
    func getxattr(
        _ context: RequestContext, node: NodeID, name: UnsafePointer<CChar>, size: Int,
        reply: consuming AttributeValueReply)

    /// - Parameters:
    ///   - flags: XATTR_CREATE, XATTR_REPLACE, or 0.
    ///   - killsSetGroupID: Whether sgid is to be cleared along with it: an ACL is set by somebody outside of the group.
    func setxattr(
        _ context: RequestContext, node: NodeID, name: UnsafePointer<CChar>, value: UnsafeRawBufferPointer,
        flags: Int32, killsSetGroupID: Bool, reply: consuming EmptyReply)

    /// Answers the names, each with its NUL.
    func listxattr(_ context: RequestContext, node: NodeID, size: Int, reply: consuming AttributeValueReply)

    func removexattr(_ context: RequestContext, node: NodeID, name: UnsafePointer<CChar>, reply: consuming EmptyReply)

    // MARK: Files

    /// - Parameter options: the flags of open(2) but O_CREAT, O_EXCL, O_NOCTTY. O_TRUNC is to be carried out.
    func open(_ context: RequestContext, node: NodeID, options: OpenOptions, reply: consuming OpenReply)

    /// Makes a regular file and opens it. O_EXCL may be among the flags.
    func create(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, mode: UInt32, options: OpenOptions,
        reply: consuming CreateReply)

    /// Makes and opens a file without a name in a folder (O_TMPFILE). `link` may give it one later.
    func tmpfile(
        _ context: RequestContext, parent: NodeID, mode: UInt32, options: OpenOptions, reply: consuming CreateReply)

    func read(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DataReply)

    /// - Parameter buffer: where the kernel's bytes were read to, not copied; valid during the call.
    func write(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, buffer: UnsafeRawBufferPointer,
        options: WriteOptions, reply: consuming CountReply)

    /// A descriptor was closed: once for each close(2), before it returns.
    func flush(
        _ context: RequestContext, node: NodeID, handle: FileHandle, lockOwner: UInt64, reply: consuming EmptyReply)

    /// The last descriptor and mapping of an open file is gone. Nobody waits for the answer.
    /// - Parameter flags: of open(2).
    func release(
        _ context: RequestContext, node: NodeID, handle: FileHandle, flags: Int32, reply: consuming EmptyReply)

    /// - Parameter dataOnly: fdatasync(2).
    func fsync(
        _ context: RequestContext, node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply)

    /// Where it changes bytes, suid and sgid are to be cleared (``Features/handleKillPrivileges``).
    /// - Parameter mode: FALLOC_FL_* bits.
    func fallocate(
        _ context: RequestContext, node: NodeID, handle: FileHandle, mode: Int32, offset: Int64, length: Int64,
        reply: consuming EmptyReply)

    /// Only SEEK_DATA and SEEK_HOLE come here.
    func lseek(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, whence: Int32,
        reply: consuming OffsetReply)

    func copyRange(
        _ context: RequestContext, from source: FileRange, to destination: FileRange, length: Int, flags: Int32,
        reply: consuming CountReply)

    /// ioctl(2) of an open file or folder; what the kernel carries out itself does not come here. Answer ENOTTY to what is
    /// not known.
    /// - Parameters:
    ///   - input: What the caller gives along.
    ///   - room: How many bytes the answer may have.
    func ioctl(
        _ context: RequestContext, node: NodeID, handle: FileHandle, request: UInt32, input: UnsafeRawBufferPointer,
        room: Int, reply: consuming ControlReply)

    // MARK: Folders

    /// - Parameter flags: of open(2).
    func opendir(_ context: RequestContext, node: NodeID, flags: Int32, reply: consuming OpenReply)

    /// Answers entries from `offset` on, 0 being the start and others what ``DirectoryBuffer`` got as `next`.
    /// - Parameter size: the most bytes the answer may have.
    func readdir(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DirectoryReply)

    /// Like `readdir`, each name with its entry. Only with ``Features/readDirectoryPlus``.
    func readdirplus(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DirectoryReply)

    func releasedir(_ context: RequestContext, node: NodeID, handle: FileHandle, reply: consuming EmptyReply)

    func fsyncdir(
        _ context: RequestContext, node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply)

    // MARK: Locks

    /// Only with ``Features/posixLocks``. Answers the lock in the way, or type F_UNLCK.
    func getlk(
        _ context: RequestContext, node: NodeID, handle: FileHandle, lock: FileLock, reply: consuming LockReply)

    /// Only with ``Features/posixLocks``.
    /// - Parameter wait: park until the lock is free (F_SETLKW), else answer EAGAIN.
    func setlk(
        _ context: RequestContext, node: NodeID, handle: FileHandle, lock: FileLock, wait: Bool,
        reply: consuming EmptyReply)

    /// Only with ``Features/flock``. What is still locked by an open file ends with its `release`.
    /// - Parameter operation: of flock(2).
    func flock(
        _ context: RequestContext, node: NodeID, handle: FileHandle, owner: UInt64, operation: Int32,
        reply: consuming EmptyReply)
}
