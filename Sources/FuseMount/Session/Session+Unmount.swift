internal import CFuse
public import SystemPackage

extension Session {
    /// Unmounts. Any thread but a worker may call it; ``run()`` returns soon after.
    /// - Parameter lazy: take the mount away from the tree at once, even when it is in use. Requests end then with
    ///   ENOTCONN or ECONNABORTED, and programs that hold files open see that too.
    /// - Throws: EBUSY when it is in use and not `lazy`; EINVAL when it is not mounted.
    public func unmount(lazy: Bool = false) throws(Errno) {
        let path = state.withLock { $0.phase == .mounted && !$0.isDetached ? $0.path : nil }
        guard let path else { throw .invalidArgument }
        let error = cfuse_unmount(path, lazy)
        guard error == 0 else { throw Errno(rawValue: error) }
        let pool = state.withLock { state in
            state.isDetached = true
            return state.phase == .mounted ? state.pool : nil
        }
        // Still in use, the connection would live on unseen.
        if lazy, let pool { cfuse_pool_end(pool) }
    }
}
