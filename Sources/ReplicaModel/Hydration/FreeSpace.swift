internal import Glibc
internal import SystemPackage

/// Caches the free space on the disk, so that not every read queries it.
struct FreeSpace {
    private var bytes: Int64 = 0
    private var askedAt = -Double.infinity

    /// How long a result is valid, in seconds.
    static let validSeconds = 1.0

    /// Like ``CacheAdmission/isKept(size:missing:)``, with the cached free space minus what was to be kept since.
    /// Queries the free space again before it returns false.
    mutating func isKept(
        size: Int64, missing: Int64, cacheLimit: Int64?, now: Double, ask: () throws(Errno) -> Int64
    ) throws(Errno) -> Bool {
        func isKept() -> Bool {
            CacheAdmission(free: bytes, cacheLimit: cacheLimit).isKept(size: size, missing: missing)
        }
        // A result from before the clock was set back is not valid.
        let isKnown = askedAt <= now && now < askedAt + Self.validSeconds
        if !isKnown || !isKept() { (bytes, askedAt) = (try ask(), now) }
        guard isKept() else { return false }
        bytes -= missing
        return true
    }
}

extension StateFolders {
    /// The number of bytes that this user may still write.
    func freeBytes() throws(Errno) -> Int64 {
        var status = Glibc.statvfs()
        try Errno.check(root.withPlatformString { statvfs($0, &status) })
        // Some filesystems report unlimited space.
        let (bytes, isTooMuch) = UInt(status.f_bavail).multipliedReportingOverflow(by: UInt(status.f_frsize))
        return isTooMuch ? .max : Int64(clamping: bytes)
    }
}
