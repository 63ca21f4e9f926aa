public import Glibc

/// The attributes that `stat` shows. Wraps `struct stat`, so that the result of `fstatat` needs no conversion.
public struct Attributes: Sendable {
    /// The whole `struct stat`. The kernel ignores `st_dev`.
    public var status: Glibc.stat

    public init(_ status: Glibc.stat) {
        self.status = status
    }

    /// Attributes with everything else zero: one link, no bytes, times at the epoch. `mode` has the type and
    /// permission bits, as in `st_mode`.
    public init(ino: UInt64, mode: UInt32, nlink: UInt = 1, uid: UInt32 = 0, gid: UInt32 = 0, size: Int64 = 0) {
        status = Glibc.stat()
        status.st_ino = UInt(ino)
        status.st_mode = mode
        status.st_nlink = nlink
        status.st_uid = uid
        status.st_gid = gid
        status.st_size = Int(size)
        status.st_blocks = Int(size / 512 + (size % 512 > 0 ? 1 : 0))
        status.st_blksize = 4096
    }

    /// The inode number that programs see. Need not be the node id.
    public var ino: UInt64 {
        get { UInt64(status.st_ino) }
        set { status.st_ino = UInt(newValue) }
    }

    /// Type and permission bits.
    public var mode: UInt32 {
        get { status.st_mode }
        set { status.st_mode = newValue }
    }

    /// How many names the file has.
    public var nlink: UInt {
        get { status.st_nlink }
        set { status.st_nlink = newValue }
    }

    /// The owner.
    public var uid: UInt32 {
        get { status.st_uid }
        set { status.st_uid = newValue }
    }

    /// The group.
    public var gid: UInt32 {
        get { status.st_gid }
        set { status.st_gid = newValue }
    }

    /// The device number of a device node (`makedev`).
    public var rdev: UInt {
        get { status.st_rdev }
        set { status.st_rdev = newValue }
    }

    /// Length in bytes.
    public var size: Int64 {
        get { Int64(status.st_size) }
        set { status.st_size = Int(newValue) }
    }

    /// Allocated space in units of 512 bytes.
    public var blocks: Int64 {
        get { Int64(status.st_blocks) }
        set { status.st_blocks = Int(newValue) }
    }

    /// Preferred size of one read or write, in bytes.
    public var blksize: Int {
        get { status.st_blksize }
        set { status.st_blksize = newValue }
    }

    /// When it was last read.
    public var atime: Glibc.timespec {
        get { status.st_atim }
        set { status.st_atim = newValue }
    }

    /// When its content last changed.
    public var mtime: Glibc.timespec {
        get { status.st_mtim }
        set { status.st_mtim = newValue }
    }

    /// When its status last changed.
    public var ctime: Glibc.timespec {
        get { status.st_ctim }
        set { status.st_ctim = newValue }
    }
}
