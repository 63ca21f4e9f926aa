import CLinux
import FuseMount
import Glibc
import ReplicaControl
import SystemPackage

/// `mount -o remount`, as in mount(8): only the VFS flags count, and the kernel applies them by itself.
enum Remounting {
    /// - Throws: `mountFailed`, with mount(8)'s message.
    static func carryOut(_ request: MountRequest) throws(ControlFailure) {
        let path = try Mountpoint.prepared(request.mountpoint)
        let place = try Mountpoint.open(path)
        defer { close(place) }
        guard let there = try Mountpoint.mount(of: place, path), there.type == "fuse.replica", there.path == path else {
            throw ControlFailure(.mountFailed, "\(request.mountpoint): no domain is mounted there")
        }
        do throws(Errno) {
            let words = there.grants + request.options.vfs + request.options.granted
            try Remount.setFlags(words, at: "\(CL_DESCRIPTORS)\(place)")
        } catch .resourceBusy {
            throw ControlFailure(.mountFailed, "\(request.mountpoint): a file there is open for writing")
        } catch .notPermitted {
            throw ControlFailure(.mountFailed, "\(request.mountpoint): only root may remount")
        } catch {
            throw ControlFailure(.mountFailed, "\(request.mountpoint): \(error)")
        }
    }
}

extension MountedFileSystem {
    /// What the mount allows beyond the defaults of FUSE: a remount keeps it unless the options say otherwise.
    fileprivate var grants: [String] {
        [("nodev", "dev"), ("nosuid", "suid")].filter { !flags.contains($0.0) }.map(\.1)
    }
}
