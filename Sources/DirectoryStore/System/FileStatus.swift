import CLinux
import Glibc
import ReplicaModel

/// The fields of statx(2) that the store uses.
/// Large: the fields of statx(2).
struct FileStatus: Hashable, Sendable {
    var inode: UInt64
    /// Nanoseconds since the epoch; 0 on filesystems without birth times.
    var birth: Int64
    var device: UInt64
    /// Whether it is on a block device.
    var isOnDevice: Bool { device >> 32 != 0 }
    /// Nil for devices, sockets and fifos, which are not replicated.
    var kind: ItemKind?
    /// The twelve permission bits.
    var mode: UInt16
    var links: UInt32
    var owner: UInt32
    var group: UInt32
    var size: Int64
    var modified: Timestamp
    /// The change time in nanoseconds.
    var changed: Int64
    /// Whether a filesystem is mounted here; known since Linux 5.8.
    var isMountPoint: Bool
    /// The key of the place, if items are identified by places.
    var placeKey: ItemKey?
    /// The key that the file took over from the one that it replaced in a modify call.
    var inherited: ItemKey?

    init(_ raw: cl_statx) {
        inode = raw.ino
        birth = Self.timestamp(raw.btime).nanoseconds
        device = UInt64(raw.dev_major) << 32 | UInt64(raw.dev_minor)
        kind =
            switch UInt32(raw.mode) & UInt32(S_IFMT) {
            case UInt32(S_IFREG): .file
            case UInt32(S_IFDIR): .folder
            case UInt32(S_IFLNK): .symlink
            default: nil
            }
        mode = raw.mode & 0o7777
        links = raw.nlink
        owner = raw.uid
        group = raw.gid
        size = Int64(raw.size)
        modified = Self.timestamp(raw.mtime)
        isMountPoint = raw.attributes & UInt64(CL_STATX_ATTR_MOUNT_ROOT) != 0
        changed = Self.timestamp(raw.ctime).nanoseconds
    }

    private static func timestamp(_ time: cl_statx_time) -> Timestamp {
        Timestamp(seconds: time.seconds, nanoseconds: Int64(time.nanoseconds))
    }
}
