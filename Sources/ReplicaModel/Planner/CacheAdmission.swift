/// Decides whether content that a program reads is kept on the disk or only passes through memory. A disk filled with
/// content that was only read would have no space left for writes.
struct CacheAdmission {
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
