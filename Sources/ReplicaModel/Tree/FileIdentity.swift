/// Identifies a file of the backing tree permanently.
struct FileIdentity: Hashable {
    var inode: UInt64
    /// Nanoseconds since the epoch; 0 if the filesystem has none.
    var born: Int64

    init(_ status: FileStatus) { (inode, born) = (status.inode, status.born.nanoseconds) }

    init(_ fingerprint: FileFingerprint) { (inode, born) = (fingerprint.inode, fingerprint.born) }
}
