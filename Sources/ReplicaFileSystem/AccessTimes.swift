internal import CLinux
internal import Glibc
internal import ReplicaModel

/// When a read through the mount changes a file's access time, if not by the rule of the filesystem below (mount(8)).
///
/// The kernel leaves access times on FUSE to whoever reads the backing file: the daemon, or with passthrough the kernel itself. The rule is that of
/// the mount on which the backing file was opened. So the file is opened on a mount of its own, which is in no namespace.
package enum AccessTimes: Sendable {
    /// `noatime`.
    case never
    /// `relatime`: if it is older than the last change, or than a day.
    case relative
    /// `strictatime`.
    case always

    /// Replaces an open file's descriptor by one that follows this rule.
    ///
    /// Without CAP_SYS_ADMIN there are no mounts: then only ``never`` has an effect, by `O_NOATIME`, on the user's own files.
    func apply(to descriptor: Int32) {
        let flags = fcntl(descriptor, F_GETFL)
        guard let mount = ownMount(of: descriptor) else { return leaveAlone(descriptor, flags) }
        defer { close(mount) }
        let kept = flags & (O_ACCMODE | O_SYNC | O_DSYNC) | O_NONBLOCK | O_CLOEXEC
        let fresh = Glibc.open("\(CL_DESCRIPTORS)\(mount)", kept)
        guard fresh >= 0 else { return leaveAlone(descriptor, flags) }
        defer { close(fresh) }
        _ = fcntl(fresh, F_SETFL, flags & ~O_ACCMODE)
        _ = cl_dup3(fresh, descriptor, O_CLOEXEC)
    }

    private func leaveAlone(_ descriptor: Int32, _ flags: Int32) {
        if self == .never { _ = fcntl(descriptor, F_SETFL, flags | CL_O_NOATIME) }
    }

    /// An `O_PATH` descriptor of the file on a mount that ends with its last open file.
    private func ownMount(of descriptor: Int32) -> Int32? {
        let flags = UInt32(CL_OPEN_TREE_CLONE | O_CLOEXEC | CL_AT_EMPTY_PATH)
        let mount = cl_open_tree(descriptor, "", flags)
        guard mount >= 0 else { return nil }
        var attributes = cl_mount_attributes(
            set: mountFlags, clear: UInt64(CL_MOUNT_ATTR_ATIME), propagation: 0, user_namespace: 0)
        let size = MemoryLayout<cl_mount_attributes>.size
        guard cl_mount_setattr(mount, "", UInt32(CL_AT_EMPTY_PATH), &attributes, size) == 0 else {
            close(mount)
            return nil
        }
        return mount
    }

    private var mountFlags: UInt64 {
        switch self {
        case .never: UInt64(CL_MOUNT_ATTR_NOATIME)
        case .relative: 0
        case .always: UInt64(CL_MOUNT_ATTR_STRICTATIME)
        }
    }
}
