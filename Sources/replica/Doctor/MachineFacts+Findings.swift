import ReplicaControl
import SystemPackage

/// The findings about a machine.
extension MachineFacts {
    /// One for each check, or more where several things are wrong.
    var findings: [Finding] {
        [
            programFinding, deviceFinding, fuseConfFinding, fusermountFinding, passthroughFinding, ringsFinding,
            haltPollingFinding,
        ]
            + [inotifyFinding, descriptorsFinding, clockFinding] + mountFindings
    }

    private func asRoot(_ command: String) -> String { isRoot ? command : "sudo \(command)" }

    private func write(_ value: String, to file: String) -> String {
        asRoot("sh -c 'echo \(value) >\(file)'")
    }

    private var programFinding: Finding {
        guard let program else {
            return .error(
                .program, "mount.replica was found neither next to this program nor in /sbin: nothing can be mounted",
                mend: asRoot(PassthroughFacts.installing(into: prefix)))
        }
        if !isKnownToMount, let place = placesInFstab.first {
            return .error(
                .program, "fstab has a domain on \(place), but mount(8) does not find mount.replica in /sbin",
                mend: asRoot(
                    "sh -c 'ln -sfn \(program) /sbin/mount.replica && ln -sfn \(program) /sbin/mount.fuse.replica'"))
        }
        return .fine(.program, "mounts are made by \(program)")
    }

    private var deviceFinding: Finding {
        switch device {
        case .opened: .fine(.device, "/dev/fuse can be used")
        case .missing:
            .error(
                .device, "/dev/fuse is missing, so nothing can be mounted",
                mend: asRoot(hasFuse ? "mknod -m 666 /dev/fuse c 10 229" : "modprobe fuse"))
        case .noDevice:
            .error(
                .device, "/dev/fuse is not the FUSE device",
                mend: asRoot("sh -c 'rm /dev/fuse && mknod -m 666 /dev/fuse c 10 229'"))
        case .refused(.permissionDenied), .refused(.notPermitted):
            .error(.device, "/dev/fuse can't be opened by this user", mend: asRoot("chmod 666 /dev/fuse"))
        case .refused(let reason):
            .error(.device, "/dev/fuse can't be opened: \(reason)", mend: asRoot("modprobe fuse"))
        }
    }

    private var fuseConfFinding: Finding {
        if isRoot { return .fine(.fuseConf, "root needs nothing in /etc/fuse.conf") }
        // With -1 there is no limit.
        if fuseConf.mountMax >= 0, fuseMounts >= fuseConf.mountMax {
            return .error(
                .fuseConf, "\(fuseMounts) FUSE filesystems are mounted, and mount_max allows \(fuseConf.mountMax)",
                mend: asRoot("sh -c '(echo; echo mount_max = \(fuseMounts + 1000)) >>/etc/fuse.conf'"))
        }
        if !fuseConf.allowsOthers, let place = sharedInFstab.first {
            return .error(
                .fuseConf, "fstab has allow_other for \(place), which needs user_allow_other in /etc/fuse.conf",
                mend: asRoot("sh -c '(echo; echo user_allow_other) >>/etc/fuse.conf'"))
        }
        let others = fuseConf.allowsOthers ? "may" : "can't, and need not,"
        return .fine(.fuseConf, "users \(others) mount with allow_other")
    }

    private var fusermountFinding: Finding {
        let path = SystemPath.fusermount
        if isRoot { return .fine(.fusermount, "root mounts without fusermount3") }
        guard let fusermount else {
            return .error(
                .fusermount, "\(path) is missing; users can't mount",
                mend: asRoot("apt-get install --reinstall fuse3"))
        }
        if fusermount.user != 0 || fusermount.permissions & 0o4111 != 0o4111 {
            return .error(
                .fusermount, "\(path) is not set-user-ID root; users can't mount",
                mend: asRoot("sh -c 'chown root \(path) && chmod 4755 \(path)'"))
        }
        if fusermount.isOnNoSetID {
            return .error(
                .fusermount, "\(path) is on a filesystem that is mounted nosuid; users can't mount",
                mend: asRoot("mount -o remount,suid $(findmnt -nf -o TARGET -T \(path))"))
        }
        return .fine(.fusermount, "\(path) is set-user-ID root")
    }

    private var passthroughFinding: Finding {
        if isRoot { return .fine(.passthrough, "root's daemons need no replica-passthrough") }
        if !kernelPasses {
            return .fine(.passthrough, "this kernel can't read and write the files of users' mounts (Linux 6.13)")
        }
        guard let passthrough else {
            return .fine(.passthrough, "mount.replica was not found, so nothing uses replica-passthrough")
        }
        return passthrough.finding(asRoot: asRoot)
    }

    private var ringsFinding: Finding {
        switch hasRings {
        case nil: return .fine(.ioUring, "this kernel has no FUSE over io_uring (Linux 6.14)")
        case false?:
            return .warning(
                .ioUring, "FUSE over io_uring is off: work on many small files is two to three times as fast with it",
                mend: write("1", to: MachineInspection.rings))
        case true?:
            guard ringsForbidden == 2 || ringsForbidden == 1 && !isRoot else {
                return .fine(.ioUring, "FUSE over io_uring is on")
            }
            return .warning(
                .ioUring, "FUSE over io_uring is on, but kernel.io_uring_disabled forbids its use",
                mend: asRoot("sysctl kernel.io_uring_disabled=0"))
        }
    }

    private var haltPollingFinding: Finding {
        guard haltPolling == 0 else { return .fine(.haltPolling, "halt polling needs no change") }
        if hasRings == true { return .fine(.haltPolling, "io_uring compensates for processors that halt immediately") }
        return .warning(
            .haltPolling,
            "virtual processors halt immediately, so work on many small files takes two to three times as long",
            mend: write("200000", to: MachineInspection.haltPolling))
    }

    private var inotifyFinding: Finding {
        for (usage, what, setting) in [
            (inotifyInstances, "instances", "max_user_instances"), (inotifyWatches, "watches", "max_user_watches"),
        ] where usage.isNearlyAll {
            return .warning(
                .inotify,
                "\(usage.used) of \(usage.limit) inotify \(what) are used: changes in stores may be found late",
                mend: asRoot("sysctl fs.inotify.\(setting)=\(max(usage.limit, 1) * 4)"))
        }
        return .fine(.inotify, "\(inotifyWatches.used) of \(inotifyWatches.limit) watches are used")
    }

    private var descriptorsFinding: Finding {
        guard descriptors < 4096 else { return .fine(.descriptors, "a daemon may have \(descriptors) files open") }
        let message = "a daemon may have only \(descriptors) files open"
        return .warning(.descriptors, message, mend: asRoot("prlimit --nofile=1048576:1048576 --pid $$"))
    }

    /// A day more than the clocks of one machine can differ.
    private var clockFinding: Finding {
        let mend = asRoot("timedatectl set-ntp true")
        if now + 86400 < newestFile {
            let days = (newestFile - now) / 86400
            return .error(.clock, "the clock is \(days) days behind the newest local file", mend: mend)
        }
        if let hardwareClock, now > hardwareClock + 2 * 86400 {
            let days = (now - hardwareClock) / 86400
            return .warning(.clock, "the clock is \(days) days ahead of the machine's hardware clock", mend: mend)
        }
        return .fine(.clock, "none of our files is from the future")
    }

    private var mountFindings: [Finding] {
        let dead = deadMounts.map { path in
            let detach = isRoot ? "umount -l" : "fusermount3 -uz"
            let message = "the daemon of the mount on \(path) is gone"
            return Finding.error(.mounts, message, mend: "\(detach) \(ShellWord.quoted(path))")
        }
        let silent = silentMounts.map { Finding.error(.mounts, "the mount on \($0) does not answer") }
        let all = dead + silent
        return all.isEmpty ? [.fine(.mounts, "there are no mounts of dead daemons")] : all
    }
}
