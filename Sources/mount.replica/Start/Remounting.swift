import CLinux
import FuseMount
import Glibc
import ReplicaControl
import SystemPackage

/// `mount -o remount`, as in mount(8). The VFS flags are changed here, and the kernel applies them by itself; the domain's options are
/// changed by its daemon. An option that would change nothing is no error: mount(8) adds those of fstab and of the mount table.
enum Remounting {
    /// - Throws: `mountFailed` with mount(8)'s message; what the daemon throws.
    static func carryOut(_ request: MountRequest, in directories: [DomainDirectory]) throws {
        let path = try Mountpoint.prepared(request.mountpoint)
        let place = try Mountpoint.open(path)
        defer { close(place) }
        guard let there = try Mountpoint.mount(of: place, path), there.type == "fuse.replica", there.path == path else {
            throw ControlFailure(.mountFailed, "\(request.mountpoint): no domain is mounted there")
        }
        if let refusal = refusal(of: request.options, for: there) {
            let again = "'umount \(request.mountpoint)', then mount it with the option"
            throw ControlFailure(
                .mountFailed, "\(request.mountpoint): \(refusal) can't change while it is mounted: \(again)")
        }
        let flags = request.options.vfs + request.options.granted
        guard flags.isEmpty || geteuid() == 0 else {
            throw ControlFailure(.mountFailed, "\(request.mountpoint): only root may remount")
        }
        let isChanged = try change(request, there, in: directories)
        if geteuid() == 0 { try setFlags(there.grants + flags, at: place, request) }
        // mount(8) also gives the options of the line in fstab, which may be another user's mount.
        guard isChanged else {
            let what = flags.isEmpty ? "nothing was changed" : "only the flags of the mount were changed"
            throw ControlFailure(
                .mountFailed,
                "\(request.mountpoint): \(what): the options of the domain belong to the user who mounted it, whose daemon must run"
            )
        }
    }

    private static func setFlags(_ words: [String], at place: Int32, _ request: MountRequest) throws(ControlFailure) {
        do throws(Errno) {
            try Remount.setFlags(words, at: "\(CL_DESCRIPTORS)\(place)")
        } catch .resourceBusy {
            throw ControlFailure(.mountFailed, "\(request.mountpoint): a file there is open for writing")
        } catch .notPermitted {
            throw ControlFailure(.mountFailed, "\(request.mountpoint): only root may remount")
        } catch {
            throw ControlFailure(.mountFailed, "\(request.mountpoint): \(error)")
        }
    }

    /// The first option that differs from the mounted one and that the kernel can't change on a remount. Those of a new domain (`create`, `import`,
    /// `state`) are ignored, as by every mount of one that exists.
    private static func refusal(of options: MountOptions, for there: MountedFileSystem) -> String? {
        if options.foreground { return "foreground" }
        if options.allowOther, !there.allowsOther { return "allow_other" }
        if let name = options.fsName, name != there.source { return "fsname" }
        return nil
    }

    /// Lets the daemon change what is the domain's.
    /// - Returns: False if its daemon can't be asked.
    private static func change(_ request: MountRequest, _ there: MountedFileSystem, in directories: [DomainDirectory])
        throws -> Bool
    {
        guard request.options.store != nil || !request.options.domain.texts.isEmpty else { return true }
        let record = try directories.domains { _, _ in }.first { domain in
            MountRecord.read(state: domain.state).map { ($0.path.path, $0.device) == (there.path, there.device) }
                ?? false
        }
        guard let domain = record, let client = try ControlClient.ifRunning(state: domain.state, name: domain.name)
        else { return false }
        if let store = request.options.store, !domain.record.isStored(at: store) {
            throw ControlFailure(.domainExists, "domain \(domain.name) has another store: \(domain.record.store)")
        }
        guard !request.options.domain.texts.isEmpty else { return true }
        _ = try client.request(
            .mount(
                mountpoint: ControlFilePath(there.path),
                options: [MountOptions.Name.remount.rawValue] + request.options.domain.texts))
        return true
    }
}

extension MountedFileSystem {
    /// What the mount allows beyond the defaults of FUSE: a remount keeps it unless the options say otherwise.
    fileprivate var grants: [String] {
        [("nodev", "dev"), ("nosuid", "suid")].filter { !flags.contains($0.0) }.map(\.1)
    }
}
