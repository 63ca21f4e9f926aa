internal import CLinux
internal import Glibc
package import SystemPackage

/// The result of statx(2) for a file. Large: the fields of statx(2).
package struct FileStatus: Sendable, Hashable {
    /// Device and inode number on the filesystem below.
    package var device: UInt64
    package var inode: UInt64
    /// Type and permission bits.
    package var mode: UInt32
    package var links: UInt32
    package var user: UInt32
    package var group: UInt32
    /// The device that a device file stands for.
    package var special: UInt64
    /// In bytes.
    package var size: Int64
    /// In units of 512 bytes.
    package var blocks: Int64
    package var blockSize: UInt32
    package var accessed: Timestamp
    package var modified: Timestamp
    package var changed: Timestamp
    /// Zero if the backing filesystem has none.
    package var born: Timestamp

    /// Whether something is mounted here; known from Linux 5.8 on.
    var isMountPoint: Bool

    /// The kind of item; nil for devices, sockets and fifos, which can't be replicated.
    package var kind: ItemKind? {
        switch mode & UInt32(S_IFMT) {
        case UInt32(S_IFREG): .file
        case UInt32(S_IFDIR): .folder
        case UInt32(S_IFLNK): .symlink
        default: nil
        }
    }

    /// The twelve permission bits.
    package var permissions: UInt16 { UInt16(mode & 0o7777) }
    /// Whether it has set-user-ID or set-group-ID.
    package var hasSetID: Bool { permissions & Self.setID != 0 }
    static let setID = UInt16(S_ISUID | S_ISGID)

    /// The status of `name` in `folder`, without following a symlink.
    init(_ name: FileName, in folder: Int32) throws(Errno) {
        self = try name.withCString { (text) throws(Errno) in
            try FileStatus(folder, text, AT_SYMLINK_NOFOLLOW)
        }
    }

    /// The status of an open file; `O_PATH` descriptors too.
    package init(descriptor: Int32) throws(Errno) {
        try self.init(descriptor, "", CL_AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)
    }

    private init(_ folder: Int32, _ path: UnsafePointer<CChar>, _ flags: Int32) throws(Errno) {
        var raw = cl_statx()
        guard cl_statx_of(folder, path, flags, CL_STATX_ALL, &raw) == 0 else { throw .last }
        device = UInt64(raw.dev_major) << 32 | UInt64(raw.dev_minor)
        inode = raw.ino
        mode = UInt32(raw.mode)
        links = raw.nlink
        user = raw.uid
        group = raw.gid
        special = Self.device(raw.rdev_major, raw.rdev_minor)
        size = Int64(raw.size)
        blocks = Int64(raw.blocks)
        blockSize = raw.blksize
        accessed = Timestamp(raw.atime)
        modified = Timestamp(raw.mtime)
        changed = Timestamp(raw.ctime)
        born = Timestamp(raw.btime)
        isMountPoint = raw.attributes & UInt64(CL_STATX_ATTR_MOUNT_ROOT) != 0
    }

    /// The number of the mount that an open file is in, never reused in this boot; nil before Linux 6.8.
    static func mount(of descriptor: Int32) -> UInt64? {
        var raw = cl_statx()
        guard cl_statx_of(descriptor, "", CL_AT_EMPTY_PATH, CL_STATX_MNT_ID_UNIQUE, &raw) == 0,
            raw.mask & UInt32(CL_STATX_MNT_ID_UNIQUE) != 0
        else { return nil }
        return raw.mnt_id
    }

    /// makedev(3), which is a macro.
    private static func device(_ major: UInt32, _ minor: UInt32) -> UInt64 {
        let (major, minor) = (UInt64(major), UInt64(minor))
        return (major & 0xFFFF_F000) << 32 | (major & 0xFFF) << 8 | (minor & 0xFFFF_FF00) << 12 | (minor & 0xFF)
    }
}

extension Timestamp {
    fileprivate init(_ raw: cl_statx_time) {
        self.init(seconds: raw.seconds, nanoseconds: Int64(raw.nanoseconds))
    }

    /// The time in the form for system calls.
    var timespec: Glibc.timespec {
        Glibc.timespec(tv_sec: Int(seconds), tv_nsec: Int(subsecond))
    }
}

extension Errno {
    /// The calling thread's errno.
    static var last: Errno { Errno(rawValue: Glibc.errno) }

    /// The result of a system call, or its errno.
    @discardableResult
    static func check<Number: SignedInteger>(_ result: Number) throws(Errno) -> Number {
        guard result >= 0 else { throw .last }
        return result
    }
}
