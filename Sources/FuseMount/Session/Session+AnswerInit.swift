internal import CFuse
internal import Threads

extension Session {
    /// Answers the kernel's INIT: on a worker, before every other request.
    func answerInit(_ connection: UnsafeMutablePointer<fuse_conn_info>) {
        connection.pointee.max_write = min(connection.pointee.max_write, RequestLimits.maxWrite)
        connection.pointee.max_background = RequestLimits.maxBackground
        connection.pointee.congestion_threshold = RequestLimits.maxBackground / 4 * 3
        let offered = cfuse_init_offered()
        let hasRings = makeRings(offered: offered)
        var wanted = UInt32(FUSE_CAP_DONT_MASK)
        // Splices go to the device, which doesn't know requests that came over a ring.
        if !hasRings { wanted |= UInt32(FUSE_CAP_SPLICE_WRITE) | UInt32(FUSE_CAP_SPLICE_MOVE) }
        if features.contains(.posixACL) { wanted |= UInt32(FUSE_CAP_POSIX_ACL) }
        if features.contains(.export) { wanted |= UInt32(FUSE_CAP_EXPORT_SUPPORT) }
        if features.contains(.cacheSymlinks) { wanted |= UInt32(FUSE_CAP_CACHE_SYMLINKS) }
        if features.contains(.explicitInvalidation) {
            wanted |= UInt32(FUSE_CAP_EXPLICIT_INVAL_DATA)
            connection.pointee.want &= ~UInt32(FUSE_CAP_AUTO_INVAL_DATA)
        }
        connection.pointee.want |= wanted & connection.pointee.capable
        // The first version clears the bits at every change of owner and size; with the second we decide when.
        connection.pointee.want &= ~UInt32(FUSE_CAP_HANDLE_KILLPRIV)
        wantKernelFlags(offered: offered, hasRings: hasRings)
        fileSystem.start(self)
    }

    /// Whether requests come over io_uring: the kernel offers it if the administrator has enabled it
    /// (`/sys/module/fuse/parameters/enable_uring`).
    private func makeRings(offered: UInt64) -> Bool {
        guard offered & KernelFlag.overIOUring != 0, let pool = state.withLock({ $0.pool }) else { return false }
        return cfuse_pool_make_rings(pool)
    }

    private func wantKernelFlags(offered: UInt64, hasRings: Bool) {
        var wanted =
            KernelFlag.parallelDirectoryOperations | KernelFlag.directIOAllowMmap | KernelFlag.longSetxattr
        if features.contains(.handleKillPrivileges) { wanted |= KernelFlag.handleKillPrivilegesV2 }
        if features.contains(.passthrough) { wanted |= KernelFlag.passthrough }
        if hasRings { wanted |= KernelFlag.overIOUring }
        wanted &= offered
        let supportsPassthrough = wanted & KernelFlag.passthrough != 0
        cfuse_init_want(wanted, supportsPassthrough ? UInt32(clamping: max(1, options.maxStackDepth)) : 0)
        state.withLock {
            $0.supportsPassthrough = supportsPassthrough
            $0.isPrivileged = cfuse_may_register()
        }
    }
}
