internal import Glibc
package import SystemPackage

/// Names that swift-system lacks.
extension Errno {
    /// ESTALE: the kernel's file is not the item's any more.
    package static var stale: Errno { Errno(rawValue: Glibc.ESTALE) }
    /// EDQUOT.
    package static var quotaExceeded: Errno { Errno(rawValue: Glibc.EDQUOT) }
    /// ENODATA: no such extended attribute.
    package static var noAttribute: Errno { Errno(rawValue: Glibc.ENODATA) }

    /// Whether no space is left for this user.
    package var isFullDisk: Bool { self == .noSpace || self == .quotaExceeded }
}
