internal import SystemPackage

/// Whether content that a program reads is kept here or only passes through memory. A disk that is filled with what is only
/// read has no room left for what is written.
struct CacheRetention {
    /// Bytes that may still be written to the disk.
    var free: Int64
    /// The most bytes of content kept here; nil for no limit.
    var cacheLimit: Int64?

    /// - Parameters:
    ///   - size: The file's.
    ///   - missing: How many of its bytes are not here.
    func isKept(size: Int64, missing: Int64) -> Bool {
        if let cacheLimit, size > cacheLimit { return false }
        return missing <= free - Self.reserve
    }

    /// What is left for the database and for what is written, in bytes.
    static let reserve: Int64 = 4 << 20
}

/// What is known of the room on the disk, so that not each read asks for it.
struct FreeSpace {
    private var bytes: Int64 = 0
    private var askedAt = -Double.infinity

    /// Seconds that an answer counts.
    static let validSeconds = 1.0

    /// As ``CacheRetention/isKept(size:missing:)``, with the last answer less what was to be kept since; nothing is refused by it.
    mutating func isKept(
        size: Int64, missing: Int64, cacheLimit: Int64?, now: Double, ask: () throws(Errno) -> Int64
    ) throws(Errno) -> Bool {
        func isKept() -> Bool {
            CacheRetention(free: bytes, cacheLimit: cacheLimit).isKept(size: size, missing: missing)
        }
        // A clock that was set back counts no more.
        let isKnown = askedAt <= now && now < askedAt + Self.validSeconds
        if !isKnown || !isKept() { (bytes, askedAt) = (try ask(), now) }
        guard isKept() else { return false }
        bytes -= missing
        return true
    }
}
