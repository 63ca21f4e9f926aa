internal import CFuse
public import SystemPackage

extension Session {
    /// Unmounts this session's mount, wherever it was moved to, and no other's. Any thread but a worker may call it;
    /// ``run()`` returns soon after, unless programs hold a copy of the mount.
    /// - Parameter lazy: take the mount away from the tree at once, even when it is in use, and ``end()``.
    /// - Throws: EBUSY when it is in use and not `lazy`, or lies below another mount; EINVAL when it is not mounted.
    public func unmount(lazy: Bool = false) throws(Errno) {
        guard var identity = mounted else { throw .invalidArgument }
        let error = cfuse_unmount_identified(&identity, lazy)
        guard error == 0 else { throw Errno(rawValue: error) }
        // Still in use, the connection would live on unseen.
        if lazy { end() }
    }

    /// Whether the mount is in this process's tree. One that is not may still be in use: by who is in it, or by
    /// another mount namespace.
    public var isMounted: Bool {
        guard var identity = mounted else { return false }
        return cfuse_is_mounted(&identity)
    }

    /// Ends the connection, whoever uses it: requests end then with ENOTCONN or ECONNABORTED, and programs that hold
    /// files open see that too. ``run()`` returns soon after.
    public func end() {
        let pool = state.withLock { $0.phase == .mounted ? $0.pool : nil }
        if let pool { cfuse_pool_end(pool) }
    }

    private var mounted: cfuse_mount_identity? {
        state.withLock { $0.phase == .mounted ? $0.identity : nil }
    }
}
