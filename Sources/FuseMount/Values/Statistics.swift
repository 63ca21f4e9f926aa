public import Glibc

/// The answer to `statfs`. Wraps `struct statvfs`, so that the result of `fstatvfs` needs no conversion.
public struct Statistics: Sendable {
    public var status: Glibc.statvfs

    public init(_ status: Glibc.statvfs) {
        self.status = status
    }

    /// A filesystem without counts: no blocks, names of at most 255 bytes.
    public init() {
        status = Glibc.statvfs()
        status.f_bsize = 4096
        status.f_frsize = 4096
        status.f_namemax = 255
    }
}
