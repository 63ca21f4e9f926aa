import FoundationEssentials
import Glibc
import ReplicaControl
import SystemPackage

/// Inspects this machine without changing anything.
enum MachineInspection {
    static let rings = "/sys/module/fuse/parameters/enable_uring"
    static let haltPolling = "/sys/module/haltpoll/parameters/guest_halt_poll_ns"

    /// - Parameter domains: The domains whose mounts and files are checked too.
    static func inspect(beside domains: [DomainLocation]) -> MachineFacts {
        var facts = MachineFacts()
        facts.user = geteuid()
        facts.device = device()
        facts.hasFuse = ProcessInspection.text("/proc/filesystems").split(separator: "\n").contains("nodev\tfuse")
        facts.fuseConf = FuseConf(ProcessInspection.text("/etc/fuse.conf"))
        let table = Fstab.own
        facts.sharedInFstab = table.shared
        facts.placesInFstab = table.lines.filter(\.isOfDomain).map(\.place)
        inspectProgram(&facts, in: table)
        facts.fusermount = fusermount()
        facts.kernelPasses = PassthroughFacts.isAnswered(byKernel: word("/proc/sys/kernel/osrelease") ?? "")
        // Without a mount.replica nothing looks for it.
        facts.passthrough = facts.program.flatMap { PassthroughFacts(beside: $0) }
        facts.hasRings = word(rings).map { $0 == "Y" || $0 == "1" }
        facts.ringsForbidden = number("/proc/sys/kernel/io_uring_disabled") ?? 0
        if facts.ringsForbidden == 1, let group = number("/proc/sys/kernel/io_uring_group"), isMember(of: group) {
            facts.ringsForbidden = 0
        }
        facts.haltPolling = number(haltPolling)
        inspectLimits(&facts)
        facts.now = Int64(Date().timeIntervalSince1970)
        let files =
            [SystemPath.ownProgram] + domains.map { $0.state.appending(StateFileName.database.rawValue).string }
        facts.newestFile = files.map(modificationTime).max() ?? 0
        facts.hardwareClock = number("/sys/class/rtc/rtc0/since_epoch").map { Int64($0) }
        inspectMounts(&facts, of: domains)
        return facts
    }

    private static func inspectProgram(_ facts: inout MachineFacts, in table: Fstab) {
        // What is missing is a finding.
        facts.program = try? MountProgram.find()
        let types = Set(table.lines.filter(\.isOfDomain).map(\.type))
        facts.isKnownToMount = types.allSatisfy { access("/sbin/mount.\($0)", X_OK) == 0 }
        facts.prefix = prefix
    }

    /// Where this program is installed.
    static var prefix: FilePath {
        guard let own = realpath(SystemPath.ownProgram, nil) else { return "/usr" }
        defer { free(own) }
        return FilePath(platformString: own).removingLastComponent().removingLastComponent()
    }

    private static func device() -> MachineFacts.Device {
        var status = stat()
        guard stat(SystemPath.fuseDevice, &status) == 0 else { return .missing }
        // 10, 229: the numbers in the kernel's list of devices.
        guard status.st_mode & S_IFMT == S_IFCHR, status.st_rdev == 10 << 8 | 229 else { return .noDevice }
        let file = open(SystemPath.fuseDevice, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { return .refused(Errno(rawValue: errno)) }
        close(file)
        return .opened
    }

    private static func fusermount() -> MachineFacts.Fusermount? {
        var (status, volume) = (stat(), statvfs())
        guard stat(SystemPath.fusermount, &status) == 0, statvfs(SystemPath.fusermount, &volume) == 0 else {
            return nil
        }
        return MachineFacts.Fusermount(
            user: status.st_uid, permissions: status.st_mode & 0o7777, isOnNoSetID: volume.f_flag & UInt(ST_NOSUID) != 0
        )
    }

    private static func inspectLimits(_ facts: inout MachineFacts) {
        let (instances, watches) = ProcessInspection.inotify(of: facts.user)
        let folder = "/proc/sys/fs/inotify"
        facts.inotifyInstances = .init(used: instances, limit: number("\(folder)/max_user_instances") ?? .max)
        facts.inotifyWatches = .init(used: watches, limit: number("\(folder)/max_user_watches") ?? .max)
        let isUsedUp = ProcessInspection.isInotifyUsedUp()
        if isUsedUp.instances { facts.inotifyInstances.used = facts.inotifyInstances.limit }
        if isUsedUp.watches { facts.inotifyWatches.used = facts.inotifyWatches.limit }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            facts.descriptors = Int(clamping: limit.rlim_max)
        }
    }

    /// Our mounts that belong to none of the domains. Each that does not answer costs a timeout, so only a few are
    /// tried.
    private static func inspectMounts(_ facts: inout MachineFacts, of domains: [DomainLocation]) {
        let claimed = Set(domains.compactMap { MountRecord.read(state: $0.state)?.path.path })
        // If the table can't be read, there are no mounts to check.
        let mounts = (try? MountTable.read()) ?? []
        facts.fuseMounts = mounts.count { $0.type == "fuse" || $0.type.hasPrefix("fuse.") }
        for mount in mounts where mount.type == "fuse.replica" && !claimed.contains(mount.path) {
            guard facts.silentMounts.count < 3 else { return }
            switch DiskFacts.outcome(at: mount.path, asUser: facts.isRoot ? mount.user : nil) {
            case .failed("Transport endpoint is not connected"): facts.deadMounts.append(mount.path)
            case .silent: facts.silentMounts.append(mount.path)
            case .failed, .seen: break
            }
        }
    }

    /// Whether this process is in a group.
    private static func isMember(of group: Int) -> Bool {
        var groups = [gid_t](repeating: 0, count: Int(max(getgroups(0, nil), 0)))
        let count = getgroups(Int32(groups.count), &groups)
        return ([getegid()] + groups.prefix(Int(max(count, 0)))).contains { Int($0) == group }
    }

    private static func modificationTime(_ path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_mtim.tv_sec) : 0
    }

    private static func word(_ path: String) -> String? {
        ProcessInspection.text(path).split(separator: "\n").first.map(String.init)
    }

    private static func number(_ path: String) -> Int? { word(path).flatMap { Int($0) } }
}
