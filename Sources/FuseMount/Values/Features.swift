/// Optional features that a filesystem requests from the kernel. Fixed for the lifetime of a mount.
public struct Features: OptionSet, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// `readdirplus` is implemented. The kernel then chooses between it and `readdir`.
    public static let readDirectoryPlus = Features(rawValue: 1 << 0)
    /// `getlk` and `setlk` are implemented. Otherwise the kernel keeps fcntl locks itself, for this mount.
    public static let posixLocks = Features(rawValue: 1 << 1)
    /// `flock` is implemented. Otherwise the kernel keeps flock locks itself, for this mount.
    public static let flock = Features(rawValue: 1 << 2)
    /// The kernel checks POSIX ACLs, kept in `system.posix_acl_*` xattrs. Implies `defaultPermissions`.
    public static let posixACL = Features(rawValue: 1 << 3)
    /// `lookup` supports `.` and `..` for any node ever answered (NFS, open_by_handle_at(2)), and answers ESTALE for deleted ones.
    public static let export = Features(rawValue: 1 << 4)
    /// The filesystem clears suid and sgid when `killPrivileges` is set. Saves one getxattr per write.
    public static let handleKillPrivileges = Features(rawValue: 1 << 5)
    /// Reads and writes are passed through to backing files, if the kernel and the privileges allow it.
    public static let passthrough = Features(rawValue: 1 << 6)
    /// The kernel caches the targets of symbolic links until the node is invalidated.
    public static let cacheSymlinks = Features(rawValue: 1 << 7)
    /// Cached pages are dropped only on request of the filesystem, not when the modification time changes.
    public static let explicitInvalidation = Features(rawValue: 1 << 8)
    /// Operations on names, attributes and listings, `open` and `release` are answered or parked without waiting for
    /// anything slower than a local disk. They are then served sequentially by one thread, which is by far the fastest.
    /// That thread stays on the processor of the calling program. Do not start other threads within a request, because they
    /// would be bound to it too; park the reply first.
    /// `setxattr`, `removexattr`, `flush`, `fsync` and operations on data may still take longer.
    public static let answersAtOnce = Features(rawValue: 1 << 9)
}
