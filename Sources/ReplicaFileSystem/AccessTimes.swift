internal import CLinux
internal import Glibc

/// When a read through the mount changes a file's access time, where that is not as the filesystem below has it.
///
/// The kernel leaves access times on FUSE to whoever reads the backing file, itself where it passes through; and there it
/// goes by the mount that the file was opened on. So the file is opened on a mount of its own, which nobody else sees.
public enum AccessTimes: Sendable {
    /// Never: `noatime`.
    case never
    /// When it is older than the last change, or a day old: `relatime`.
    case relative
    /// Always: `strictatime`.
    case always

    /// Puts in a descriptor's place one of the same file that goes by this. Who may not make mounts can only leave times
    /// alone; the rest stays then as it is below.
    func apply(to descriptor: Int32) {
        let flags = fcntl(descriptor, F_GETFL)
        let own = ownMount(of: descriptor)
        defer { if own >= 0 { close(own) } }
        let kept = flags & (O_ACCMODE | O_SYNC | O_DSYNC) | O_NONBLOCK | O_CLOEXEC
        let fresh = own >= 0 ? Glibc.open("/proc/self/fd/\(own)", kept) : -1
        guard fresh >= 0 else {
            if self == .never { _ = fcntl(descriptor, F_SETFL, flags | CL_O_NOATIME) }
            return
        }
        _ = fcntl(fresh, F_SETFL, flags & ~O_ACCMODE)
        _ = cl_dup3(fresh, descriptor, O_CLOEXEC)
        close(fresh)
    }

    /// An `O_PATH` descriptor of the file on a mount that is in no tree and goes with its last file; below 0 without.
    private func ownMount(of descriptor: Int32) -> Int32 {
        let flags = UInt32(CL_OPEN_TREE_CLONE | O_CLOEXEC | CL_AT_EMPTY_PATH)
        let mount = cl_open_tree(descriptor, "", flags)
        guard mount >= 0 else { return mount }
        var attributes = cl_mount_attributes(
            set: mountFlags, clear: UInt64(CL_MOUNT_ATTR_ATIME), propagation: 0, user_namespace: 0)
        guard
            cl_mount_setattr(
                mount, "", UInt32(CL_AT_EMPTY_PATH), &attributes, MemoryLayout<cl_mount_attributes>.size) == 0
        else {
            close(mount)
            return -1
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
