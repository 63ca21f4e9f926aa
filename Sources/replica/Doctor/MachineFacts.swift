import SystemPackage

/// The facts about this machine. The defaults are those of a machine without problems. Large: each field is something
/// that `doctor` checks.
struct MachineFacts {
    /// The result of opening /dev/fuse.
    enum Device: Equatable {
        case opened, missing, noDevice
        case refused(Errno)
    }

    /// /usr/bin/fusermount3.
    struct Fusermount {
        var user: UInt32 = 0
        var permissions: UInt32 = 0o4755
        /// Whether its filesystem is mounted without set-user-ID.
        var isOnNoSetID = false
    }

    /// How much of a resource a user uses, and the limit.
    struct Usage {
        var used = 1
        var limit = 1000

        /// At least nine tenths are used.
        var isNearlyAll: Bool { used >= limit - limit / 10 }
    }

    /// The user who runs `doctor`.
    var user: UInt32 = 1000
    /// `mount.replica`; nil if there is none.
    var program: String? = "/usr/sbin/mount.replica"
    /// Where this program is installed: `/usr`.
    var prefix: FilePath = "/usr"
    /// Whether mount(8) finds the first, by the name of a filesystem's type.
    var isKnownToMount = true
    /// Mountpoints of domains in fstab.
    var placesInFstab: [String] = []
    var device = Device.opened
    /// Whether the kernel has FUSE already, without its device where it is looked for.
    var hasFuse = false
    var fuseConf = FuseConf()
    /// The FUSE mounts of all users.
    var fuseMounts = 0
    /// Mountpoints in fstab of user mounts with `allow_other`.
    var sharedInFstab: [String] = []
    var fusermount: Fusermount? = Fusermount()
    /// Whether the kernel lets it work.
    var kernelPasses = true
    /// Nil if there is no mount.replica.
    var passthrough: PassthroughFacts? = PassthroughFacts()
    /// The kernel's switch of FUSE over io_uring; nil if it has none.
    var hasRings: Bool? = true
    /// `kernel.io_uring_disabled`; 0 if this user is in the group of `kernel.io_uring_group`, which 1 excepts.
    var ringsForbidden = 0
    /// Nanoseconds for which a virtual processor polls before it halts; nil if this is not a virtual machine, or it
    /// polls in another way.
    var haltPolling: Int?
    var inotifyInstances = Usage()
    var inotifyWatches = Usage()
    /// The maximum number of descriptors of a process of this user.
    var descriptors = 1 << 20
    /// Seconds since 1970.
    var now: Int64 = 1 << 31
    /// The time of our newest file, in seconds since 1970.
    var newestFile: Int64 = 0
    /// That of the clock that runs without power; nil if there is none.
    var hardwareClock: Int64?
    /// Mounts whose daemon is gone, and that belong to no known domain.
    var deadMounts: [FilePath] = []
    /// Mounts that did not answer in time, and that belong to no known domain.
    var silentMounts: [FilePath] = []

    var isRoot: Bool { user == 0 }
}
