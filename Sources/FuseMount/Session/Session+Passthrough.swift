internal import CFuse
public import SystemPackage

extension Session {
    /// Whether opens may use a backing file. Known from ``FileSystem/start(_:)`` on.
    /// Becomes false permanently if the kernel rejects a registration for lack of privileges (EPERM).
    public var supportsPassthrough: Bool {
        state.withLock { $0.supportsPassthrough }
    }

    /// Registers a file with the kernel for direct reads and writes. The descriptor may be closed afterwards.
    ///
    /// The kernel uses the calling thread's credentials for the I/O: call it with the daemon's own, not with a
    /// caller's fsuid. CAP_FSETID is dropped, so that the backing filesystem clears suid and sgid on writes.
    /// - Throws: EPERM without CAP_SYS_ADMIN, ELOOP if the file is on a stacked filesystem and `maxStackDepth`
    ///   does not allow it, EOPNOTSUPP if passthrough is off.
    public func registerBacking(_ descriptor: Int32) throws(Errno) -> BackingID {
        guard let handle = state.withLock({ $0.supportsPassthrough ? $0.handle : nil }) else { throw .notSupported }
        let result = cfuse_backing_open(handle, descriptor)
        if result == -Errno.notPermitted.rawValue { state.withLock { $0.supportsPassthrough = false } }
        guard result > 0 else { throw Errno(rawValue: -result) }
        return BackingID(rawValue: result)
    }

    /// Invalidates a node's attributes synchronously: the kernel asks for them at their next use, whatever answers are in flight.
    /// Only for a node that the request on this thread keeps referenced; takes no lock that the request may hold.
    public func expireAttributes(of node: NodeID) {
        guard let handle = state.withLock({ $0.handle }) else { return }
        let attributesOnly = -1
        fuse_lowlevel_notify_inval_inode(handle, node, attributesOnly, 0)
    }

    /// Unregisters a backing file. Open files that use it are not affected. Has no effect after the end of the mount.
    public func unregisterBacking(_ id: BackingID) {
        guard let handle = state.withLock({ $0.handle }) else { return }
        cfuse_backing_close(handle, id.rawValue)
    }
}
