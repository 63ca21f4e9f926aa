/// The state of an item's backing file when it was last checked.
struct FileFingerprint: Hashable {
    var inode: UInt64 = 0
    var born: Int64 = 0
    var size: Int64 = 0
    var modified: Int64 = 0
    var changed: Int64 = 0
    var mode: UInt16 = 0

    init() {}

    init(_ status: FileStatus) {
        inode = status.inode
        born = status.born.nanoseconds
        size = status.size
        modified = status.modified.nanoseconds
        changed = status.changed.nanoseconds
        mode = status.permissions
    }

    /// Whether both are of the same file, changed or not.
    func isSameFile(as other: FileFingerprint) -> Bool { inode == other.inode && born == other.born }
    /// Whether the content may differ.
    func hasOtherContent(than other: FileFingerprint) -> Bool { inode != other.inode || hasOtherBytes(than: other) }
    /// Whether the content may differ between a file and a copy of it: a restored tree has other inodes.
    func hasOtherBytes(than other: FileFingerprint) -> Bool { size != other.size || modified != other.modified }
}
