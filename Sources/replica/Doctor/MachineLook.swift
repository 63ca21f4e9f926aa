import FoundationEssentials
import Glibc
import ReplicaControl
import SystemPackage

/// Inspects this machine without changing anything.
enum MachineLook {
    static let rings = "/sys/module/fuse/parameters/enable_uring"
    static let haltPolling = "/sys/module/haltpoll/parameters/guest_halt_poll_ns"

    /// - Parameter domains: The domains whose mounts and files are checked too.
    static func look(beside domains: [DomainLocation]) -> MachineSight {
        var sight = MachineSight()
        sight.user = geteuid()
        sight.device = device()
        sight.fuseConf = FuseConf(ProcessLook.text("/etc/fuse.conf"))
        sight.sharedInFstab = FileSystemTable.shared(ProcessLook.text("/etc/fstab"))
        sight.fusermount = fusermount()
        sight.kernelPasses = PassthroughSight.isAnswered(byKernel: word("/proc/sys/kernel/osrelease") ?? "")
        // Without a mount.replica nothing looks for it.
        sight.passthrough = (try? MountProgram.find()).flatMap { PassthroughSight(beside: $0) }
        sight.hasRings = word(rings).map { $0 == "Y" || $0 == "1" }
        sight.ringsForbidden = number("/proc/sys/kernel/io_uring_disabled") ?? 0
        sight.haltPolling = number(haltPolling)
        lookAtLimits(&sight)
        sight.now = Int64(Date().timeIntervalSince1970)
        let files = ["/proc/self/exe"] + domains.map { $0.state.appending("replica.db").string }
        sight.newestFile = files.map(modificationTime).max() ?? 0
        lookAtMounts(&sight, of: domains)
        return sight
    }

    private static func device() -> MachineSight.Device {
        var status = stat()
        guard stat("/dev/fuse", &status) == 0 else { return .missing }
        // 10, 229: the numbers in the kernel's list of devices.
        guard status.st_mode & S_IFMT == S_IFCHR, status.st_rdev == 10 << 8 | 229 else { return .noDevice }
        let file = open("/dev/fuse", O_RDWR | O_CLOEXEC)
        guard file >= 0 else { return .refused(Errno(rawValue: errno)) }
        close(file)
        return .opened
    }

    private static func fusermount() -> MachineSight.Fusermount? {
        var (status, volume) = (stat(), statvfs())
        guard stat("/usr/bin/fusermount3", &status) == 0, statvfs("/usr/bin/fusermount3", &volume) == 0 else {
            return nil
        }
        return MachineSight.Fusermount(
            user: status.st_uid, permissions: status.st_mode & 0o7777, isOnNoSetID: volume.f_flag & UInt(ST_NOSUID) != 0
        )
    }

    private static func lookAtLimits(_ sight: inout MachineSight) {
        let (instances, watches) = ProcessLook.inotify(of: sight.user)
        let folder = "/proc/sys/fs/inotify"
        sight.inotifyInstances = .init(used: instances, limit: number("\(folder)/max_user_instances") ?? .max)
        sight.inotifyWatches = .init(used: watches, limit: number("\(folder)/max_user_watches") ?? .max)
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            sight.descriptors = Int(clamping: limit.rlim_max)
        }
    }

    /// Our mounts that belong to none of the domains. Each that does not answer costs a timeout, so only a few are
    /// tried.
    private static func lookAtMounts(_ sight: inout MachineSight, of domains: [DomainLocation]) {
        let claimed = Set(domains.compactMap { MountRecord.read(state: $0.state)?.path.path })
        // If the table can't be read, there are no mounts to check.
        let mounts = (try? MountTable.read()) ?? []
        sight.fuseMounts = mounts.count { $0.type == "fuse" || $0.type.hasPrefix("fuse.") }
        for mount in mounts where mount.type == "fuse.replica" && !claimed.contains(mount.path) {
            guard sight.silentMounts.count < 3 else { return }
            switch PlaceSight(at: mount.path).outcome {
            case .failed("Transport endpoint is not connected"): sight.deadMounts.append(mount.path)
            case .silent: sight.silentMounts.append(mount.path)
            case .failed, .seen: break
            }
        }
    }

    private static func modificationTime(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_mtim.tv_sec) : 0
    }

    private static func word(_ path: String) -> String? {
        ProcessLook.text(path).split(separator: "\n").first.map(String.init)
    }

    private static func number(_ path: String) -> Int? { word(path).flatMap { Int($0) } }
}
