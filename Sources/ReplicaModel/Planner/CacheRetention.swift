internal import SystemPackage

/// Decides whether content that a program reads is kept on the disk or only passes through memory. A disk filled with
/// content that was only read would have no space left for writes.
struct CacheRetention {
    /// The number of bytes that can still be written to the disk.
    var free: Int64
    /// The maximum number of bytes of content kept on the disk; nil if there is no limit.
    var cacheLimit: Int64?

    /// - Parameters:
    ///   - size: The file's size.
    ///   - missing: The number of its bytes that are not local.
    func isKept(size: Int64, missing: Int64) -> Bool {
        if let cacheLimit, size > cacheLimit { return false }
        return missing <= free - Self.reserve
    }

    /// The number of bytes left free for the database and for writes.
    static let reserve: Int64 = 4 << 20
}

/// Caches the free space on the disk, so that not every read queries it.
struct FreeSpace {
    private var bytes: Int64 = 0
    private var askedAt = -Double.infinity

    /// How long a result is valid, in seconds.
    static let validSeconds = 1.0

    /// Like ``CacheRetention/isKept(size:missing:)``, with the cached free space minus what was to be kept since.
    /// Queries the free space again before it returns false.
    mutating func isKept(
        size: Int64, missing: Int64, cacheLimit: Int64?, now: Double, ask: () throws(Errno) -> Int64
    ) throws(Errno) -> Bool {
        func isKept() -> Bool {
            CacheRetention(free: bytes, cacheLimit: cacheLimit).isKept(size: size, missing: missing)
        }
        // A result from before the clock was set back is not valid.
        let isKnown = askedAt <= now && now < askedAt + Self.validSeconds
        if !isKnown || !isKept() { (bytes, askedAt) = (try ask(), now) }
        guard isKept() else { return false }
        bytes -= missing
        return true
    }
}
