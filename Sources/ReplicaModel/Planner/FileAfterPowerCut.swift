/// A local file as found after a power cut, and its record.
struct FileAfterPowerCut: Hashable, Sendable {
    /// Whether the store is known to have it.
    var hasBase: Bool
    /// In bytes: in the backing tree, and in the store when last in sync.
    var size: Int64
    var sizeInStore: Int64
    /// Whether inode, size, mode and times are as recorded.
    var isAsRecorded: Bool
    /// Whether the recorded state is known to have been on the disk.
    var isDurable: Bool
    /// Whether the record has an edit that the store does not have.
    var isEdited: Bool
    /// The size of that edit when a program synced it. Without an edit: a program had the file open that syncs each write, so that an edit
    /// may not be recorded.
    var syncedSize: Int64?
    /// Whether this is the tree that the record was made of, rather than another one put in its place.
    var isOfRecordedTree: Bool
    /// Whether it was a placeholder. Its mark is removed only after its bytes are on the disk.
    var isFetched: Bool
}

/// The state of a file after a power cut.
enum Finding: Hashable, Sendable {
    /// As recorded, and on the disk.
    case asRecorded
    /// An edit that a program synced.
    case edited
    /// The store may not know it.
    case new
    /// Emptied by the power cut: it becomes a placeholder for the store's content.
    case lost
    /// Only a comparison with the store's content can tell whether something was lost.
    /// - Parameter isEdited: Whether it looks like the recorded edit.
    case doubtful(isEdited: Bool)
}

/// Classifies a file found after a power cut. A difference from the record is not necessarily an edit, because a
/// filesystem may keep a file's size and times and lose its bytes.
func finding(_ file: FileAfterPowerCut) -> Finding {
    guard file.hasBase else { return .new }
    if let synced = file.syncedSize, file.isEdited || !(file.isAsRecorded && file.isDurable) {
        // Synced content is not lost: a shorter file was truncated afterwards. An empty one may be the beginning of a
        // rewrite.
        if file.size >= synced || file.isOfRecordedTree && file.size > 0 { return .edited }
    }
    if file.isFetched || file.isAsRecorded && file.isDurable { return .asRecorded }
    if file.size == 0, file.sizeInStore > 0 { return .lost }
    return .doubtful(isEdited: file.isEdited && file.isAsRecorded)
}
