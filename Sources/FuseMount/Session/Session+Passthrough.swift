internal import CFuse
public import SystemPackage

extension Session {
    /// Whether opens may name a backing file. Known from ``FileSystem/start(_:)`` on.
    /// Turns false for good when the kernel refuses a registration for lack of rights (EPERM).
    public var supportsPassthrough: Bool {
        state.withLock { $0.supportsPassthrough }
    }

    /// Makes a file known to the kernel as one to read and write instead of asking. The descriptor may be closed then.
    ///
    /// The kernel keeps the calling thread's credentials for the I/O: call it as the daemon itself, not with a
    /// caller's fsuid. CAP_FSETID is left out, so that the backing filesystem strips suid and sgid on writes.
    /// - Throws: EPERM without CAP_SYS_ADMIN, ELOOP when the file lies on a stacked filesystem and `maxStackDepth`
    ///   doesn't allow it, EOPNOTSUPP when passthrough is off.
    public func registerBacking(_ descriptor: Int32) throws(Errno) -> BackingID {
        guard let handle = state.withLock({ $0.supportsPassthrough ? $0.handle : nil }) else { throw .notSupported }
        let result = cfuse_backing_open(handle, descriptor)
        if result == -Errno.notPermitted.rawValue { state.withLock { $0.supportsPassthrough = false } }
        guard result > 0 else { throw Errno(rawValue: -result) }
        return BackingID(rawValue: result)
    }

    /// Has the kernel ask for a node's attributes at their next use: when this returns, and whatever answers are under way.
    /// For a node that the request on this thread keeps from being forgotten; takes no lock that it may hold.
    public func expireAttributes(of node: NodeID) {
        guard let handle = state.withLock({ $0.handle }) else { return }
        let attributesOnly = -1
        fuse_lowlevel_notify_inval_inode(handle, node, attributesOnly, 0)
    }

    /// Forgets a backing file. Open files that use it go on. After the end of the mount there is nothing to forget.
    public func unregisterBacking(_ id: BackingID) {
        guard let handle = state.withLock({ $0.handle }) else { return }
        cfuse_backing_close(handle, id.rawValue)
    }
}
