/// A file whose bytes are here, as it is found after a power cut, and what was recorded of it.
struct FileAfterPowerCut: Hashable, Sendable {
    /// Whether the store is known to have it.
    var hasBase: Bool
    /// In bytes: below, and in the store when last in step.
    var size: Int64
    var sizeInStore: Int64
    /// Whether inode, size, mode and times are as they were recorded.
    var isAsRecorded: Bool
    /// Whether what was recorded is known to have been on the disk.
    var isDurable: Bool
    /// Whether an edit was recorded that the store does not have.
    var isEdited: Bool
    /// What a program synced of that edit, in bytes.
    var syncedSize: Int64?
    /// Whether the tree is the one that this was recorded of, and no other that was put in its place.
    var isOfRecordedTree: Bool
    /// Whether it was a placeholder, whose mark goes when its bytes are on the disk.
    var isFetched: Bool
}

/// What a file is after a power cut.
enum Finding: Hashable, Sendable {
    /// What was recorded, and is on the disk.
    case asRecorded
    /// An edit that a program synced.
    case edited
    /// The store may never have been told of it.
    case new
    /// Emptied by the cut: it stands for what the store has.
    case lost
    /// The store's content tells whether something was lost.
    /// - Parameter isEdited: Whether it is, to all appearance, the edit that was recorded.
    case doubtful(isEdited: Bool)
}

/// Decides what a file is that was found after a power cut. A difference below is no edit, for a filesystem may keep a
/// file's size and times and lose its bytes.
func finding(_ file: FileAfterPowerCut) -> Finding {
    guard file.hasBase else { return .new }
    if file.isEdited, let synced = file.syncedSize {
        // What was synced isn't lost: the file is shorter because somebody cut it since. Nothing at all is a rewrite's begin.
        if file.size >= synced || file.isOfRecordedTree && file.size > 0 { return .edited }
    }
    if file.isFetched || file.isAsRecorded && file.isDurable { return .asRecorded }
    if file.size == 0, file.sizeInStore > 0 { return .lost }
    return .doubtful(isEdited: file.isEdited && file.isAsRecorded)
}
