/// Where an item was when it was sent, and the template's identifier: the same at every attempt (statements 71 to 73),
/// and never reused after the store has created an item from it.
struct SentPlace: Hashable {
    var parent: ItemNumber
    var name: FileName
    var template: ItemIdentifier
}

/// The content of an unanswered call.
struct SentContent: Hashable {
    var size: Int64
    var modified: Int64
    /// The place that it was sent to.
    var parent: ItemNumber
    var name: FileName

    /// Whether the store's item has this content: another writer would have left a different time.
    func isContent(of item: Item) -> Bool {
        guard item.size == size else { return false }
        guard let date = item.metadata.modificationDate else { return true }
        return date.nanoseconds == modified
            || date.subsecond == 0 && date.seconds == Timestamp(nanoseconds: modified).seconds
    }

    /// Whether a file still has this content.
    func isContent(of fingerprint: FileFingerprint) -> Bool {
        fingerprint.size == size && fingerprint.modified == modified
    }
}
