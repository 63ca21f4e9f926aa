/// What a filesystem wants of the kernel beyond the common. Fixed for the life of a mount.
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
    /// `lookup` answers `.` and `..` of any node ever answered (NFS, open_by_handle_at(2)); ESTALE when it is gone.
    public static let export = Features(rawValue: 1 << 4)
    /// The filesystem clears suid and sgid where `killPrivileges` says so. Saves a getxattr for each write.
    public static let handleKillPrivileges = Features(rawValue: 1 << 5)
    /// Wants passthrough of reads and writes to backing files, where the kernel and the rights allow.
    public static let passthrough = Features(rawValue: 1 << 6)
    /// The kernel keeps the targets of symbolic links until the node is invalidated.
    public static let cacheSymlinks = Features(rawValue: 1 << 7)
    /// Cached pages are dropped only when the filesystem says so, not when the time of change moves.
    public static let explicitInvalidation = Features(rawValue: 1 << 8)
    /// Operations on names, attributes and listings, `open` and `release` are answered, or parked, without waiting for
    /// more than a local disk. They are then served one after the other by one thread, which is much the fastest.
    /// That thread stays on the processor of the program that asks: start no other within a request, which would be kept
    /// there too, but park the reply first.
    /// `setxattr`, `removexattr`, `flush`, `fsync` and the operations on data may take their time all the same.
    public static let answersAtOnce = Features(rawValue: 1 << 9)
}
