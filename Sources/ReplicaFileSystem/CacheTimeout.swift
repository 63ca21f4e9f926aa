internal import ReplicaModel

/// How long the kernel may cache entries and attributes: long, since we own the tree and report all changes.
enum CacheTimeout {
    /// Seconds.
    static let long = 3600.0
    /// For the status of a file that is open for writing: stores to a mapping change its times without the kernel's
    /// FUSE inode noticing. Within a tick of the clock for file timestamps, the times would be the same anyway.
    static let tick = 0.001
}

extension KernelEntry {
    /// How long the status may be cached, in seconds: not at all if a write that we don't see may clear its set-ID
    /// bits.
    var timeout: Double {
        isSteady ? CacheTimeout.long : status.hasSetID && status.kind == .file ? 0 : CacheTimeout.tick
    }
}
