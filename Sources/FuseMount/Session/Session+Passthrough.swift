internal import CFuse
public import SystemPackage
internal import Threads

extension Session {
    /// Whether opens may use a backing file. Known from ``FileSystem/start(_:)`` on.
    /// Becomes false permanently if the kernel rejects a registration for lack of privileges (EPERM), and there is no
    /// ``MountOptions/passthroughProgram`` or it is gone.
    public var supportsPassthrough: Bool {
        state.withLock { $0.supportsPassthrough }
    }

    /// Whether each registration is a round trip to ``MountOptions/passthroughProgram``, because this process has no
    /// CAP_SYS_ADMIN. Known from ``FileSystem/start(_:)`` on.
    package var registersByProgram: Bool {
        state.withLock { !$0.isPrivileged }
    }

    /// Registers a file with the kernel for direct reads and writes. The descriptor may be closed afterwards.
    ///
    /// The kernel uses the calling thread's credentials for the I/O: call it with the daemon's own, not with a
    /// caller's fsuid. CAP_FSETID is dropped, so that the backing filesystem clears suid and sgid on writes.
    /// Without CAP_SYS_ADMIN, ``MountOptions/passthroughProgram`` registers it, if the user may read and write the file.
    /// - Throws: EPERM without CAP_SYS_ADMIN and without that program, the program's reason to refuse, ELOOP if the
    ///   file is on a stacked filesystem and `maxStackDepth` does not allow it, EOPNOTSUPP if passthrough is off.
    public func registerBacking(_ descriptor: Int32) throws(Errno) -> BackingID {
        let (handle, isPrivileged) = state.withLock { ($0.supportsPassthrough ? $0.handle : nil, $0.isPrivileged) }
        guard let handle else { throw .notSupported }
        var result = isPrivileged ? cfuse_backing_open(handle, descriptor) : -Errno.notPermitted.rawValue
        if result == -Errno.notPermitted.rawValue {
            if isPrivileged { state.withLock { $0.isPrivileged = false } }
            result = registrar.withLock { $0.register(descriptor, handle, options.passthroughProgram) }
            if result == -Errno.socketNotConnected.rawValue { state.withLock { $0.supportsPassthrough = false } }
        }
        guard result > 0 else { throw Errno(rawValue: -result) }
        return BackingID(rawValue: result)
    }

    /// Invalidates a node's attributes synchronously: the kernel requests them at their next use, even if an answer is
    /// in flight. Only for a node that the request on this thread keeps referenced; takes no lock that the request may
    /// hold.
    public func expireAttributes(of node: NodeID) {
        guard let handle = state.withLock({ $0.handle }) else { return }
        let attributesOnly = -1
        fuse_lowlevel_notify_inval_inode(handle, node, attributesOnly, 0)
    }

    /// Unregisters a backing file. Open files that use it are not affected. Has no effect after the end of the mount.
    public func unregisterBacking(_ id: BackingID) {
        let (handle, isPrivileged) = state.withLock { ($0.handle, $0.isPrivileged) }
        guard let handle else { return }
        if isPrivileged {
            cfuse_backing_close(handle, id.rawValue)
        } else {
            registrar.withLock { $0.unregister(id.rawValue) }
        }
    }
}
