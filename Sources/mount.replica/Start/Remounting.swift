import FuseMount
import ReplicaControl
import SystemPackage

/// `mount -o remount`, as in mount(8): only the VFS flags count, and the kernel applies them by itself.
enum Remounting {
    /// - Throws: `mountFailed`, with mount(8)'s message.
    static func carryOut(_ request: MountRequest) throws(ControlFailure) {
        let path = try Mountpoint.prepared(request.mountpoint)
        guard try Mountpoint.top(at: path)?.type == "fuse.replica" else {
            throw ControlFailure(.mountFailed, "\(request.mountpoint): no domain is mounted there")
        }
        do throws(Errno) {
            try Remount.setFlags(request.options.vfs, at: path.string)
        } catch .resourceBusy {
            throw ControlFailure(.mountFailed, "\(request.mountpoint): a file there is open for writing")
        } catch .notPermitted {
            throw ControlFailure(.mountFailed, "\(request.mountpoint): only root may remount")
        } catch {
            throw ControlFailure(.mountFailed, "\(request.mountpoint): \(error)")
        }
    }
}
