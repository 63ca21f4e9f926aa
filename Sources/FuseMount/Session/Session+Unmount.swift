internal import CFuse
public import SystemPackage
internal import Threads

extension Session {
    /// Unmounts exactly this session's mount, wherever it was moved to. May be called from any thread except a worker;
    /// ``run()`` returns soon after, unless programs hold a copy of the mount.
    /// - Parameter lazy: detach the mount immediately, even if it is in use, and ``end()``.
    /// - Throws: EBUSY if it is in use and not `lazy`, or covered by another mount; EINVAL if it is not mounted.
    public func unmount(lazy: Bool = false) throws(Errno) {
        guard var identity = mounted else { throw .invalidArgument }
        let error = cfuse_unmount_identified(&identity, lazy)
        guard error == 0 else { throw Errno(rawValue: error) }
        // If the mount is still in use, the connection would stay alive invisibly.
        if lazy { end() }
    }

    /// Whether the mount is in this process's tree. A detached mount may still be in use, by programs in it or in
    /// another mount namespace.
    public var isMounted: Bool {
        guard var identity = mounted else { return false }
        return cfuse_is_mounted(&identity)
    }

    /// Aborts the connection, even if it is in use: requests then fail with ENOTCONN or ECONNABORTED, also those of
    /// programs with open files. ``run()`` returns soon after.
    public func end() {
        let pool = state.withLock { $0.phase == .mounted ? $0.pool : nil }
        if let pool { cfuse_pool_end(pool) }
    }

    private var mounted: cfuse_mount_identity? {
        state.withLock { $0.phase == .mounted ? $0.identity : nil }
    }
}
