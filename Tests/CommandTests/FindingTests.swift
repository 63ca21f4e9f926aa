import Foundation
import SystemPackage
import Testing

@testable import replica

/// The findings of `replica doctor`: each possible problem, and the command that fixes it.
@Suite struct FindingTests {
    typealias Severity = Finding.Severity

    @Test func aHealthyMachineAndDomainHaveNoFindings() {
        let findings = MachineFacts().findings + DomainFacts().findings
        #expect(findings.allSatisfy { $0.severity == .fine && $0.command == nil }, "\(findings)")
        var seen = Set(findings.map(\.check))
        seen.remove(.descriptors)
        #expect(seen == Set(Finding.Check.allCases.filter { $0 != .descriptors }))
    }

    /// A problem of a machine, and the resulting finding.
    private static let machines: [(@Sendable (inout MachineFacts) -> Void, String)] = [
        (
            { $0.program = nil },
            "error program found neither next to this program: sudo apt-get install --reinstall replica"
        ),
        (
            { ($0.isKnownToMount, $0.placesInFstab) = (false, ["/srv"]) },
            "error program fstab has a domain on /srv: ln -sfn /usr/sbin/mount.replica /sbin/mount.replica"
        ),
        ({ $0.device = .missing }, "error device is missing: sudo modprobe fuse"),
        (
            { ($0.device, $0.hasFuse) = (.missing, true) },
            "error device is missing: sudo mknod -m 666 /dev/fuse c 10 229"
        ),
        ({ $0.device = .noDevice }, "error device is not the FUSE device: mknod -m 666 /dev/fuse c 10 229"),
        ({ $0.device = .refused(.permissionDenied) }, "error device by this user: sudo chmod 666 /dev/fuse"),
        ({ $0.device = .refused(.ioError) }, "error device can't be opened: sudo modprobe fuse"),
        ({ $0.fuseMounts = 1000 }, "error fuseConf mount_max allows 1000: >>/etc/fuse.conf"),
        (
            { ($0.fuseMounts, $0.fuseConf.mountMax) = (9, 8) },
            "error fuseConf mount_max allows 8: echo mount_max = 1009"
        ),
        ({ $0.sharedInFstab = ["/srv"] }, "error fuseConf allow_other for /srv: echo user_allow_other"),
        ({ $0.fusermount = nil }, "error fusermount is missing: sudo apt-get install --reinstall fuse3"),
        ({ $0.fusermount?.permissions = 0o755 }, "error fusermount not set-user-ID root: chmod 4755"),
        ({ $0.fusermount?.user = 1000 }, "error fusermount not set-user-ID root: chown root"),
        ({ $0.fusermount?.isOnNoSetID = true }, "error fusermount nosuid: remount,suid"),
        (
            { $0.passthrough?.isInstalled = false },
            "warning passthrough is missing: apt-get install --reinstall replica"
        ),
        (
            { $0.passthrough = missing("/a b/libexec/replica-passthrough") },
            "warning passthrough /a b/libexec/replica-passthrough is missing: scripts/install --prefix '/a b'"
        ),
        (
            { $0.passthrough?.isPrivileged = false },
            "warning passthrough lacks CAP_SYS_ADMIN: setcap cap_sys_admin+ep /usr"
        ),
        ({ $0.passthrough?.isOnNoSetID = true }, "warning passthrough nosuid: remount,suid"),
        ({ $0.hasRings = false }, "warning ioUring is off: echo 1 >/sys/module/fuse/parameters/enable_uring"),
        ({ $0.ringsForbidden = 1 }, "warning ioUring forbids: sudo sysctl kernel.io_uring_disabled=0"),
        ({ ($0.hasRings, $0.haltPolling) = (nil, 0) }, "warning haltPolling halt immediately: echo 200000 >"),
        ({ $0.inotifyInstances.used = 900 }, "warning inotify 900 of 1000: fs.inotify.max_user_instances=4000"),
        ({ $0.inotifyWatches.used = 1000 }, "warning inotify 1000 of 1000: fs.inotify.max_user_watches=4000"),
        ({ $0.descriptors = 1024 }, "warning descriptors only 1024: prlimit"),
        ({ $0.newestFile = $0.now + 3 * 86400 }, "error clock 3 days behind: timedatectl set-ntp true"),
        (
            { ($0.hardwareClock, $0.newestFile) = ($0.now - 3 * 86400, 0) },
            "warning clock 3 days ahead: timedatectl set-ntp true"
        ),
        ({ $0.deadMounts = ["/a b"] }, "error mounts is gone: fusermount3 -uz '/a b'"),
        ({ ($0.user, $0.deadMounts) = (0, ["/m"]) }, "error mounts is gone: umount -l /m"),
        ({ $0.silentMounts = ["/m"] }, "error mounts does not answer: "),
    ]

    @Test(arguments: machines.indices) func faultsOfTheMachineAreReported(index: Int) {
        var facts = MachineFacts()
        Self.machines[index].0(&facts)
        Self.expect(facts.findings, Self.machines[index].1)
    }

    private static let domains: [(@Sendable (inout DomainFacts) -> Void, String)] = [
        ({ $0.daemon = .silent(process: 7, isStopped: true) }, "error daemon is stopped: kill -CONT 7"),
        (
            { ($0.daemon, $0.mount) = (.silent(process: 7, isStopped: false), "/m") },
            "error daemon does not answer: kill -9 7 && replica mount photos /m"
        ),
        ({ $0.daemon = .silent(process: nil, isStopped: false) }, "error daemon does not answer: "),
        ({ $0.daemon = .failed("the daemon belongs to another user") }, "error daemon belongs to another user: "),
        ({ $0.mount = "/m" }, "error mount dead mount on /m: replica mount photos /m"),
        (
            { $0.daemon = .answers(process: 7, mountpoint: "/m") },
            "warning mount can't be seen from here: replica unmount photos && replica mount photos /m"
        ),
        (
            { ($0.daemon, $0.cover) = (.answers(process: 7, mountpoint: "/m"), "/m") },
            "warning mount is covered by another one: sudo umount /m"
        ),
        (
            { ($0.daemon, $0.cover) = (.answers(process: 7, mountpoint: "/m/a b"), "/m") },
            "warning mount is covered by another one on /m: sudo umount /m"
        ),
        ({ $0.missingPlace = "/a b" }, "error mount /a b, where it is to be mounted, is missing: mkdir -p '/a b'"),
        (
            { ($0.missingPlace, $0.missingPlaceIsOwn) = ("/m", false) },
            "error mount where it is to be mounted, is missing: sudo mkdir -p /m"
        ),
        (
            { $0.unit = .init(name: "replica@photos.service", control: "systemctl --user", hasFailed: true) },
            "error unit replica@photos.service has failed: systemctl --user start replica@photos.service"
        ),
        (
            { ($0.daemon, $0.descriptors) = (.answers(process: 7, mountpoint: nil), .init(used: 95, limit: 100)) },
            "warning descriptors 95 of 100: sudo prlimit --nofile=400:400 --pid 7"
        ),
        ({ $0.disk.outcome = .silent }, "error disk does not answer: "),
        ({ $0.disk.outcome = .failed("Input/output error") }, "error disk Input/output error: "),
        ({ ($0.disk.free, $0.hasReserve) = (4096, false) }, "error disk is full, and no daemon can start there: "),
        ({ $0.disk.free = 4096 }, "error disk is full: replica evict photos:"),
        ({ $0.state = .halfRemoved("/d") }, "error state its removal is not finished: replica remove photos"),
        (
            { ($0.disk.free, $0.daemon) = (4096, .answers(process: 7, mountpoint: nil)) },
            "error disk is full: replica evict photos:"
        ),
        ({ $0.disk.freeFiles = 3 }, "error disk has no inodes left: "),
        ({ $0.disk.freeFiles = 300 }, "warning disk has only 300 inodes left: "),
        ({ $0.disk.free = 1 << 29 }, "warning disk has only 512.0 MiB left: replica evict photos:"),
        ({ $0.disk.hasAttributes = false }, "error disk lacks extended attributes: "),
        ({ $0.disk.isWritable = false }, "error disk can't be written: sudo chmod u+rwx"),
        (
            { ($0.disk.isWritable, $0.disk.isReadOnly) = (false, true) },
            "error disk can't be written: sudo mount -o remount,rw"
        ),
        ({ $0.store = store { $0.outcome = .silent } }, "error store does not answer: "),
        ({ $0.store = store { $0.outcome = .failed("no such") } }, "error store no such; if it is on another disk: "),
        ({ $0.store = store { $0.free = 0 } }, "error store is full: "),
        ({ $0.store = store { $0.free = 1 << 29 } }, "warning store has only 512.0 MiB left: "),
        ({ $0.store = store { $0.hasAttributes = false } }, "warning store lacks extended attributes: "),
        ({ $0.store = store { $0.isWritable = false } }, "error store can't be written: chmod u+rwx"),
        (
            { $0.store = store { ($0.isWritable, $0.isReadOnly) = (false, true) } },
            "error store can't be written: sudo mount -o remount,rw"
        ),
        (
            { $0.store = .program("x", nil) },
            "error store replica-store-x is not installed: replica-store-x ~/.local/lib/replica/stores/replica-store-x"
        ),
        (
            { $0.store = .program("my-s3", nil) },
            "error store replica-store-my-s3 is not installed: replica-store-my-s3 ~/.local/lib/replica/stores/replica-store-my-s3"
        ),
        (
            { $0.store = .program("davs", nil) },
            "error store replica-store-webdav is not installed: sudo apt-get install --reinstall replica"
        ),
        (
            { $0.store = .unmounted(DiskFacts(), on: "/a b") },
            "error store the disk of /a b is not mounted: sudo mount '/a b'"
        ),
        ({ $0.store = .invalid("not a store URL") }, "error store not a store URL: "),
        ({ $0.credentials = .missing("/k", "No such file") }, "error credentials No such file: "),
        (
            { $0.credentials = .unusable("the Secret Service has none") },
            "error credentials the Secret Service has none"
        ),
        ({ $0.credentials = .readable("/k") }, "error credentials can be read by others: chmod 600 /k"),
        ({ $0.credentials = .closed("/k", owner: 1000) }, "error credentials can't be read by its user: chmod 600 /k"),
        (
            { $0.credentials = .closed("/k", owner: 0) },
            "error credentials can't be read by its user: sudo chown 1000 /k"
        ),
        ({ $0.credentials = .foreign("/k") }, "error credentials another user: sudo chown 1000 /k"),
    ]

    @Test(arguments: domains.indices) func faultsOfADomainAreReported(index: Int) {
        var facts = DomainFacts()
        Self.domains[index].0(&facts)
        Self.expect(facts.findings, Self.domains[index].1)
        #expect(facts.findings.allSatisfy { $0.domain == "photos" })
    }

    /// Nothing else is checked then.
    @Test func anUntrustedStateIsTheOnlyFinding() {
        var facts = DomainFacts()
        facts.state = .untrusted("/s", "is accessible to other users", mend: "chmod 700 /s")
        Self.expect(facts.findings, "error state is accessible to other users: chmod 700 /s")
        #expect(facts.findings.count == 1)
        facts.state = .unreadable("/s", "domain.json is damaged", mend: "editor /s/domain.json")
        Self.expect(facts.findings, "error state can't be read: domain.json is damaged: editor /s/domain.json")
        facts.state = .closed("/s/tree", mend: "chmod u+rx /s/tree")
        Self.expect(facts.findings, "error state can't be opened by its user: chmod u+rx /s/tree")
        #expect(facts.findings.count == 1)
    }

    @Test func aNegativeMountMaxIsNoLimit() {
        var facts = MachineFacts()
        (facts.fuseMounts, facts.fuseConf.mountMax) = (9, -1)
        #expect(facts.findings.allSatisfy { $0.severity == .fine }, "\(facts.findings)")
    }

    /// Root needs neither a set-user-ID program nor permissions in fuse.conf.
    @Test func rootNeedsNoSetUserIDProgram() {
        var facts = MachineFacts()
        (facts.user, facts.fusermount, facts.fuseMounts, facts.sharedInFstab) = (0, nil, 2000, ["/srv"])
        (facts.ringsForbidden, facts.passthrough) = (1, Self.missing("/x"))
        #expect(facts.findings.allSatisfy { $0.severity == .fine }, "\(facts.findings)")
    }

    /// Nothing that root could do would mend it: what root gives rights to there, others could have replaced.
    @Test func aPrefixOfAUserNeedsNoPassthroughProgram() {
        var facts = MachineFacts()
        var program = Self.missing("/home/me/.local/libexec/replica-passthrough")
        program.isRootsAlone = false
        for (isInstalled, isPrivileged) in [(false, false), (true, false), (true, true)] {
            (program.isInstalled, program.isPrivileged) = (isInstalled, isPrivileged)
            facts.passthrough = program
            #expect(facts.findings.allSatisfy { $0.severity == .fine }, "\(facts.findings)")
            let message = facts.findings.first { $0.check == .passthrough }?.message
            #expect(message?.contains("/home/me/.local is not root's alone") == !isPrivileged, "\(message ?? "")")
        }
    }

    /// Each reason has a text of its own.
    @Test func withoutAMountProgramTheKernelIsNotBlamed() {
        var facts = MachineFacts()
        facts.passthrough = nil
        let message = facts.findings.first { $0.check == .passthrough }?.message
        #expect(message == "mount.replica was not found, so nothing uses replica-passthrough")
        facts.kernelPasses = false
        #expect(facts.findings.first { $0.check == .passthrough }?.message.hasPrefix("this kernel can't") == true)
    }

    @Test func anOldKernelNeedsNoPassthroughProgram() {
        var facts = MachineFacts()
        (facts.kernelPasses, facts.passthrough) = (false, Self.missing("/x"))
        #expect(facts.findings.allSatisfy { $0.severity == .fine }, "\(facts.findings)")
        for (release, works) in [
            ("6.12.9", false), ("6.13.0-rc1", true), ("6.18.44-x", true), ("7.0", true), ("5.20", false),
        ] {
            #expect(PassthroughFacts.isAnswered(byKernel: release) == works, "\(release)")
        }
    }

    @Test func fuseConfAndFstabAreReadAsTheirProgramsReadThem() {
        let conf = FuseConf("# user_allow_other\nmount_max = 7 # few\n")
        #expect(!conf.allowsOthers && conf.mountMax == 7)
        #expect(FuseConf(" user_allow_other\n").allowsOthers)
        let table = """
            # photos /a replica user,allow_other
            photos /b replica user,allow_other 0 0
            photos /c replica allow_other 0 0
            photos /d replica user 0 0
            /dev/x /e ext4 user,allow_other
            """
        #expect(Fstab(table).shared == ["/b"])
        let disks = Fstab("/dev/x /mnt ext4 rw\n/dev/y /mnt/my\\040disk ext4 rw\n/dev/z /mnt/other ext4 rw\n")
        #expect(disks.unmounted(above: "/mnt/my disk/store", mounted: ["/mnt"]) == "/mnt/my disk")
        #expect(disks.unmounted(above: "/mnt/my disks", mounted: ["/mnt"]) == nil)
        #expect(disks.unmounted(above: "/mnt/my disk", mounted: []) == "/mnt/my disk")
        #expect(disks.unmounted(above: "/home", mounted: []) == nil)
    }

    @Test(arguments: [
        ("/a/b", "/a/b"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#), ("$(x)", "'$(x)'"), ("", "''"),
        ("a\u{1B}'b", #"$'a\x1b\x27b'"#),
        ("a\u{200E}\u{85}b", #"$'a\xe2\x80\x8e\xc2\x85b'"#),
    ])
    func wordsOfCommandsAreQuoted(text: String, quoted: String) {
        #expect(ShellWord.quoted(Array(text.utf8)) == quoted)
    }

    @Test func findingsAreSingleLines() {
        var finding = Finding.warning(.disk, "a\nb\u{1B}[2J", mend: "mend")
        finding.domain = "photos"
        #expect(finding.line == "warning  photos: disk: a?b?[2J; to fix it: mend")
        #expect(Severity.fine < .warning && Severity.warning < .error)
    }

    private static func missing(_ path: String) -> PassthroughFacts {
        var facts = PassthroughFacts()
        facts.path = path
        facts.isInstalled = false
        return facts
    }

    private static func store(_ spoil: (inout DiskFacts) -> Void) -> DomainFacts.Store {
        var place = DiskFacts()
        spoil(&place)
        return .folder(place)
    }

    /// `SEVERITY CHECK WORDS: COMMAND`: this is the only finding that is not fine.
    private static func expect(
        _ findings: [Finding], _ wanted: String, location: SourceLocation = #_sourceLocation
    ) {
        let bad = findings.filter { $0.severity != .fine }
        guard let finding = bad.first, bad.count == 1 else {
            Issue.record("\(bad)", sourceLocation: location)
            return
        }
        let parts = wanted.split(separator: " ", maxSplits: 2)
        let end = parts[2].range(of: ": ", options: .backwards) ?? parts[2].endIndex..<parts[2].endIndex
        let (words, command) = (parts[2][..<end.lowerBound], parts[2][end.upperBound...])
        #expect(finding.severity.rawValue == parts[0] && finding.check.rawValue == parts[1], sourceLocation: location)
        #expect(finding.message.contains(words), "\(finding.message)", sourceLocation: location)
        #expect(command.isEmpty || (finding.command ?? "").contains(command), "\(finding)", sourceLocation: location)
        #expect((finding.command == nil) == command.isEmpty, "\(finding)", sourceLocation: location)
    }
}
