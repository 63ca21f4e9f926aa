import SystemPackage

/// What was looked at on this machine. The values here are those of a machine on which nothing is wrong.
/// Large: each field is something that `doctor` looks at.
struct MachineSight {
    /// What became of opening /dev/fuse.
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

    /// What a user has of something, and may have.
    struct Usage {
        var used = 1
        var limit = 1000

        /// At least nine tenths.
        var isNearlyAll: Bool { used >= limit - limit / 10 }
    }

    /// Who asks.
    var user: UInt32 = 1000
    var device = Device.opened
    var fuseConf = FuseConf()
    /// FUSE mounts of everybody.
    var fuseMounts = 0
    /// Mountpoints in fstab of users that others are to see.
    var sharedInFstab: [String] = []
    var fusermount: Fusermount? = Fusermount()
    /// The kernel's switch of FUSE over io_uring; nil if it has none.
    var hasRings: Bool? = true
    /// `kernel.io_uring_disabled`.
    var ringsForbidden = 0
    /// Nanoseconds for which a virtual processor polls before it halts; nil if this is no virtual machine, or polls otherwise.
    var haltPolling: Int?
    var inotifyInstances = Usage()
    var inotifyWatches = Usage()
    /// Descriptors that a process of this user may have at most.
    var descriptors = 1 << 20
    /// Seconds since 1970.
    var now: Int64 = 1 << 31
    /// The same, of the newest file of ours.
    var newestFile: Int64 = 0
    /// Mounts of no domain that was found, of which the daemon is gone.
    var deadMounts: [FilePath] = []
    /// The same, which did not answer in time.
    var silentMounts: [FilePath] = []

    var isRoot: Bool { user == 0 }
}

/// /etc/fuse.conf, as fusermount3 reads it.
struct FuseConf: Equatable {
    var allowsOthers = false
    var mountMax = 1000

    init() {}

    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let words = line.prefix { $0 != "#" }.split { $0 == " " || $0 == "\t" || $0 == "=" }
            if words == ["user_allow_other"] { allowsOthers = true }
            if words.count == 2, words[0] == "mount_max", let number = Int(words[1]) { mountMax = number }
        }
    }
}

/// Lines of fstab(5) that matter here.
enum FileSystemTable {
    /// Mountpoints of domains that any user may mount and that others are to see.
    static func shared(_ text: String) -> [String] {
        text.split(separator: "\n").compactMap { line in
            let fields = line.split { $0 == " " || $0 == "\t" }
            guard fields.count >= 4, !fields[0].hasPrefix("#"), ["replica", "fuse.replica"].contains(fields[2]) else {
                return nil
            }
            let options = fields[3].split(separator: ",")
            let isOfUsers = options.contains { ["user", "users", "owner", "group"].contains($0) }
            return isOfUsers && options.contains("allow_other") ? String(fields[1]) : nil
        }
    }
}
