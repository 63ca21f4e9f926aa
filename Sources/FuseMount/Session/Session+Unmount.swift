internal import CFuse
internal import CMount
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

    /// The numbers that identify the mount: its filesystem's device, and its unique mount ID (before Linux 6.8 the
    /// reusable one), and the reusable one, which the mount table has. Nil before ``mount(at:)`` and after the end.
    package var numbers: (major: UInt32, minor: UInt32, mount: UInt64, inTable: UInt64)? {
        mounted.map { ($0.major, $0.minor, $0.unique == 0 ? $0.number : $0.unique, $0.number) }
    }

    /// Aborts the connection, even if it is in use: requests then fail with ENOTCONN or ECONNABORTED, also those of
    /// programs with open files. ``run()`` returns soon after.
    public func end() {
        let pool = state.withLock { $0.phase == .mounted ? $0.pool : nil }
        if let pool { cfuse_pool_end(pool) }
    }

    private var mounted: cmount_identity? {
        state.withLock { $0.phase == .mounted ? $0.identity : nil }
    }
}
