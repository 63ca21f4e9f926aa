/// A filesystem: one method for each kind of request. Methods that are not implemented answer ENOSYS.
///
/// Methods run concurrently on the session's worker threads, and may block for as long as a local filesystem would.
/// Anything that takes longer parks its reply (``Reply/park()``). Methods must not access their own mount. Pointers (names,
/// buffers) are only valid during the call. For some requests the kernel does not ask again after ENOSYS:
/// `open`, `opendir`, `flush`, `fsync`, `access`, `xattr`, `lseek`, `copyRange`, `statx`, `tmpfile`.
///
/// Modes in `mknod`, `mkdir`, `create` and `tmpfile` are those given by the program: the filesystem applies
/// ``RequestContext/umask`` (unless a default ACL replaces it) and makes the caller the owner.
/// Large: a method for each request of the kernel.
public protocol FileSystem: AnyObject, Sendable {
    /// Read once, when the session is created.
    var features: Features { get }

    /// The mount is live, and ``Session/supportsPassthrough`` is known. Called before all requests.
    func start(_ session: Session)

    /// The mount is gone and every request is answered. Called after all requests; remaining nodes count as forgotten.
    func stop()

    // MARK: Names

    /// Looks up a name in a folder. Answer ``Entry/negative(timeout:)`` to have its absence cached.
    func lookup(_ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, reply: consuming EntryReply)

    /// The kernel no longer references nodes. There is no reply.
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

    /// `handle` is the open file, for fstat(2).
    func getattr(_ context: RequestContext, node: NodeID, handle: FileHandle?, reply: consuming AttributesReply)

    /// Like `getattr`, with the time of birth. Not asked again after ENOSYS.
    func statx(_ context: RequestContext, node: NodeID, handle: FileHandle?, reply: consuming BirthReply)

    /// Changes attributes and answers the new ones. Also called for truncation.
    func setattr(
        _ context: RequestContext, node: NodeID, handle: FileHandle?, changes: AttributeChanges,
        reply: consuming AttributesReply)

    /// access(2), only without `defaultPermissions`.
    /// `mask` is R_OK, W_OK, X_OK, or F_OK.
    func access(_ context: RequestContext, node: NodeID, mask: Int32, reply: consuming EmptyReply)

    func statfs(_ context: RequestContext, node: NodeID, reply: consuming StatisticsReply)

    /// `size` is the size of the caller's buffer; 0 asks for the length only.
    func getxattr(
        _ context: RequestContext, node: NodeID, name: UnsafePointer<CChar>, size: Int,
        reply: consuming AttributeValueReply)

    /// `flags` is XATTR_CREATE, XATTR_REPLACE, or 0. With `killsSetGroupID` the file loses sgid as well, because an ACL is set by a
    /// user outside the group.
    func setxattr(
        _ context: RequestContext, node: NodeID, name: UnsafePointer<CChar>, value: UnsafeRawBufferPointer,
        flags: Int32, killsSetGroupID: Bool, reply: consuming EmptyReply)

    /// Answers the names, each terminated by NUL.
    func listxattr(_ context: RequestContext, node: NodeID, size: Int, reply: consuming AttributeValueReply)

    func removexattr(_ context: RequestContext, node: NodeID, name: UnsafePointer<CChar>, reply: consuming EmptyReply)

    // MARK: Files

    /// `options` are the flags of open(2) except O_CREAT, O_EXCL, O_NOCTTY. O_TRUNC must be carried out.
    func open(_ context: RequestContext, node: NodeID, options: OpenOptions, reply: consuming OpenReply)

    /// Creates a regular file and opens it. The flags may include O_EXCL.
    func create(
        _ context: RequestContext, parent: NodeID, name: UnsafePointer<CChar>, mode: UInt32, options: OpenOptions,
        reply: consuming CreateReply)

    /// Creates and opens an unnamed file in a folder (O_TMPFILE). `link` may name it later.
    func tmpfile(
        _ context: RequestContext, parent: NodeID, mode: UInt32, options: OpenOptions, reply: consuming CreateReply)

    func read(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, size: Int,
        reply: consuming DataReply)

    /// The bytes in `buffer` are not copied, and only valid during the call.
    func write(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, buffer: UnsafeRawBufferPointer,
        options: WriteOptions, reply: consuming CountReply)

    /// A descriptor was closed. Called once for each close(2), before it returns.
    func flush(
        _ context: RequestContext, node: NodeID, handle: FileHandle, lockOwner: UInt64, reply: consuming EmptyReply)

    /// The last descriptor and mapping of an open file are gone. The kernel does not wait for the answer. `flags` are
    /// those of open(2).
    func release(
        _ context: RequestContext, node: NodeID, handle: FileHandle, flags: Int32, reply: consuming EmptyReply)

    /// fsync(2), or fdatasync(2) if `dataOnly`.
    func fsync(
        _ context: RequestContext, node: NodeID, handle: FileHandle, dataOnly: Bool, reply: consuming EmptyReply)

    /// If it changes bytes, it must clear suid and sgid (``Features/handleKillPrivileges``). `mode` has FALLOC_FL_* bits.
    func fallocate(
        _ context: RequestContext, node: NodeID, handle: FileHandle, mode: Int32, offset: Int64, length: Int64,
        reply: consuming EmptyReply)

    /// Only called for SEEK_DATA and SEEK_HOLE.
    func lseek(
        _ context: RequestContext, node: NodeID, handle: FileHandle, offset: Int64, whence: Int32,
        reply: consuming OffsetReply)

    func copyRange(
        _ context: RequestContext, from source: FileRange, to destination: FileRange, length: Int, flags: Int32,
        reply: consuming CountReply)

    /// ioctl(2) of an open file or folder, except requests that the kernel handles itself. Answer ENOTTY for unknown
    /// requests. `input` is the caller's data, `room` the maximum size of the answer in bytes.
    func ioctl(
        _ context: RequestContext, node: NodeID, handle: FileHandle, request: UInt32, input: UnsafeRawBufferPointer,
        room: Int, reply: consuming ControlReply)

    // MARK: Folders

    /// `flags` are those of open(2).
    func opendir(_ context: RequestContext, node: NodeID, flags: Int32, reply: consuming OpenReply)

    /// Answers entries from `offset` on: 0 is the start, other values are those passed to ``DirectoryBuffer`` as `next`.
    /// `size` is the maximum size of the answer in bytes.
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

    /// Only with ``Features/posixLocks``. Answers the conflicting lock, or type F_UNLCK.
    func getlk(
        _ context: RequestContext, node: NodeID, handle: FileHandle, lock: FileLock, reply: consuming LockReply)

    /// Only with ``Features/posixLocks``. If `wait`, park until the lock is free (F_SETLKW); otherwise answer EAGAIN.
    func setlk(
        _ context: RequestContext, node: NodeID, handle: FileHandle, lock: FileLock, wait: Bool,
        reply: consuming EmptyReply)

    /// Only with ``Features/flock``. An open file's lock ends with its `release`. `operation` is that of flock(2).
    func flock(
        _ context: RequestContext, node: NodeID, handle: FileHandle, owner: UInt64, operation: Int32,
        reply: consuming EmptyReply)
}
