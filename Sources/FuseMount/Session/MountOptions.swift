/// How a filesystem is mounted and served.
public struct MountOptions: Sendable {
    /// The source that `mount` and `df` show.
    public var fsName: String
    /// The mount's type is `fuse.` and this.
    public var subtype: String
    public var readOnly = false
    /// Other users may access the mount. Unless root mounts it, fuse.conf must allow that.
    public var allowOther = false
    /// The kernel checks modes and owners; the filesystem only receives permitted requests.
    public var defaultPermissions = true
    /// Further options, flags of mount(2) by their names in mount(8): `noexec`, `dev`, ...
    public var extra: [String] = []
    /// The maximum number of worker threads.
    public var maxThreads = 32
    /// 2 if the backing files are themselves on a stacked filesystem (overlayfs, FUSE), otherwise 1.
    public var maxStackDepth = 1
    /// The path of `replica-passthrough`, which registers backing files for a user who has no CAP_SYS_ADMIN; nil: then that
    /// user has no passthrough. Started when the first file is opened, as a child of this process.
    public var passthroughProgram: String?

    public init(fsName: String, subtype: String) {
        self.fsName = fsName
        self.subtype = subtype
    }
}
