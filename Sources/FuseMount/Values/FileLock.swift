public import Glibc

/// A byte-range lock of fcntl(2).
public struct FileLock: Sendable {
    /// `l_type`, `l_start`, `l_len` and `l_pid`; `l_whence` is always SEEK_SET.
    public var range: Glibc.flock
    /// The open file table that owns it: equal for what one process may lock twice.
    public let owner: UInt64

    public init(range: Glibc.flock, owner: UInt64) {
        self.range = range
        self.owner = owner
    }
}
