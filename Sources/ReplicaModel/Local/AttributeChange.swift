internal import CLinux
internal import Glibc

/// The changes of setattr; nil leaves a value unchanged.
package struct AttributeChange: Sendable {
    /// The twelve permission bits.
    package var mode: UInt16?
    package var user: UInt32?
    package var group: UInt32?
    /// In bytes.
    package var size: Int64?
    package var accessed: TimeChange?
    package var modified: TimeChange?
    /// Set if a file's set-user-ID and set-group-ID bits have to be cleared, as after a write by another user; returns
    /// whether the caller may keep a set-group-ID bit of a file that its group may not execute (is in the group).
    package var clearsSetID: (@Sendable (_ group: UInt32) -> Bool)?

    package init() {}

    /// A new time of a file: utimensat(2)'s `UTIME_NOW` or a given one.
    package enum TimeChange: Sendable, Hashable {
        case now
        case to(Timestamp)

        var timespec: Glibc.timespec {
            switch self {
            case .now: Glibc.timespec(tv_sec: 0, tv_nsec: CL_UTIME_NOW)
            case .to(let time): time.timespec
            }
        }
    }
}
