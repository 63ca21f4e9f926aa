internal import CLinux
internal import Glibc
internal import SystemPackage

/// A request about a file's flags in the backing filesystem: chattr(1), lsattr(1).
package enum FlagRequest: Sendable {
    /// `FS_IOC_GETFLAGS` and `FS_IOC_SETFLAGS` of ioctl_iflags(2).
    case flags, setFlags
    /// `FS_IOC_FSGETXATTR` and `FS_IOC_FSSETXATTR`: the same flags by other numbers, and a project.
    case extended, setExtended

    /// - Parameter number: The request number of ioctl(2). The result is nil for other requests.
    package init?(_ number: UInt32) {
        switch number {
        case CL_FS_IOC_GETFLAGS: self = .flags
        case CL_FS_IOC_SETFLAGS: self = .setFlags
        case CL_FS_IOC_FSGETXATTR: self = .extended
        case CL_FS_IOC_FSSETXATTR: self = .setExtended
        default: return nil
        }
    }

    var number: UInt32 {
        switch self {
        case .flags: CL_FS_IOC_GETFLAGS
        case .setFlags: CL_FS_IOC_SETFLAGS
        case .extended: CL_FS_IOC_FSGETXATTR
        case .setExtended: CL_FS_IOC_FSSETXATTR
        }
    }

    /// The size of the number, or of `struct fsxattr`.
    var size: Int {
        switch self {
        case .flags, .setFlags: 4
        case .extended, .setExtended: 28
        }
    }

    var isChange: Bool { self == .setFlags || self == .setExtended }
}

/// The flags in a request's value.
struct FileFlags: Hashable {
    let request: FlagRequest
    /// The flags' bits, in the numbering of the request.
    let bits: UInt32

    /// - Parameter value: Begins with the flags.
    init(_ request: FlagRequest, _ value: [UInt8]) {
        self.request = request
        bits = value.withUnsafeBytes { $0.count < 4 ? 0 : $0.loadUnaligned(as: UInt32.self) }
    }

    /// Whether a file with them can't be changed, or only appended to.
    var freezes: Bool {
        switch request {
        case .flags, .setFlags: bits & (CL_FS_IMMUTABLE_FL | CL_FS_APPEND_FL) != 0
        case .extended, .setExtended: bits & (CL_FS_XFLAG_IMMUTABLE | CL_FS_XFLAG_APPEND) != 0
        }
    }

    /// Whether an owner who is not root may make this change. The kernel rejects flags reserved to root before it sends
    /// the request; the backing filesystem would see only the daemon's rights.
    func mayBecome(_ new: FileFlags) -> Bool {
        request != .flags || (bits ^ new.bits) & CL_FS_JOURNAL_DATA_FL == 0
    }
}
