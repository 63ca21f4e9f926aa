public import Glibc

/// The changes of a `setattr` request. Fields that are nil stay unchanged.
public struct AttributeChanges: Sendable {
    /// A new time: given, or the moment at which the filesystem carries out the request.
    public enum Time: Sendable {
        case now
        case at(Glibc.timespec)
    }

    /// Permission bits (with suid, sgid and sticky).
    public internal(set) var mode: UInt32?
    public internal(set) var uid: UInt32?
    public internal(set) var gid: UInt32?
    /// The new length in bytes.
    public internal(set) var size: Int64?
    public internal(set) var atime: Time?
    public internal(set) var mtime: Time?
    /// Only sent when the kernel keeps times itself (write-back cache).
    public internal(set) var ctime: Glibc.timespec?
    /// The filesystem must clear suid, and sgid when group-executable, along with this change (KILLPRIV_V2).
    public internal(set) var killPrivileges = false
}
