/// How a filesystem is mounted and served.
public struct MountOptions: Sendable {
    /// What `mount` and `df` show as the source.
    public var fsName: String
    /// The mount's type is `fuse.` and this.
    public var subtype: String
    public var readOnly = false
    /// Other users than the one who mounts may use it. For others than root, fuse.conf must allow it.
    public var allowOther = false
    /// The kernel checks modes and owners; the filesystem sees only what is allowed.
    public var defaultPermissions = true
    /// Further options, flags of mount(2) by their names in mount(8): `noexec`, `dev`, ...
    public var extra: [String] = []
    /// The most worker threads.
    public var maxThreads = 32
    /// 2 when the backing files lie on a stacked filesystem (overlayfs, FUSE) themselves, else 1.
    public var maxStackDepth = 1

    public init(fsName: String, subtype: String) {
        self.fsName = fsName
        self.subtype = subtype
    }
}
