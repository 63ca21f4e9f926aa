/// Whether content that a program reads is kept here or only passes through memory. A disk that is filled with what is only
/// read has no room left for what is written.
struct Keeping {
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
