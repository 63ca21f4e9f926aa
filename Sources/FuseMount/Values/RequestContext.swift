/// The caller's credentials, as sent by the kernel.
///
/// For write-back of cached pages and for `release`, `pid` may be 0 and the IDs those of the opener.
public struct RequestContext: Sendable {
    /// The caller's filesystem user id.
    public let uid: UInt32
    /// The caller's filesystem group id. Supplementary groups are in `/proc/PID/status`.
    public let gid: UInt32
    /// The caller's thread ID, or 0 if it is outside the daemon's PID namespace.
    public let pid: Int32
    /// The caller's umask. Only meaningful for `mknod`, `mkdir`, `create` and `tmpfile`.
    public let umask: UInt32
    /// The kernel's ID of the request, unique while it is in flight.
    public let unique: UInt64
}

/// The number of a file or folder, chosen by the filesystem. The root is ``rootNode``.
public typealias NodeID = UInt64

/// The filesystem's answer to `open`, `create` or `opendir`, passed to each request on that open file.
public typealias FileHandle = UInt64

/// The node id of the root of every mount (FUSE_ROOT_ID).
public let rootNode: NodeID = 1
