/// Who asks: the credentials that the kernel sent with a request.
///
/// For write-back of cached pages and for `release`, `pid` may be 0 and the ids those of the opener.
public struct RequestContext: Sendable {
    /// The caller's filesystem user id.
    public let uid: UInt32
    /// The caller's filesystem group id. Supplementary groups are in `/proc/PID/status`.
    public let gid: UInt32
    /// The caller's thread id, or 0 when it is outside the daemon's pid namespace.
    public let pid: Int32
    /// The caller's umask. Only meaningful for `mknod`, `mkdir`, `create` and `tmpfile`.
    public let umask: UInt32
    /// The kernel's number for the request, unique while it is in flight.
    public let unique: UInt64
}

/// A file or folder, as the filesystem numbers it. The root is ``rootNode``.
public typealias NodeID = UInt64

/// What the filesystem answered to `open`, `create` or `opendir`; given back with each request on that open file.
public typealias FileHandle = UInt64

/// The node id of the root of every mount (FUSE_ROOT_ID).
public let rootNode: NodeID = 1
