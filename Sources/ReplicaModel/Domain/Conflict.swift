/// An unresolved conflict: both sides changed a file (MODEL.md#conflicts).
package struct Conflict: Sendable, Hashable {
    /// The item with the store's version; nil if it is gone.
    package var original: [FileName]?
    /// The item with the local bytes.
    package var copy: [FileName]
    /// When it was found.
    package var date: Timestamp
}

/// The side of a conflict that keeps the item's name.
package enum ConflictSide: Sendable, Hashable, CaseIterable {
    /// The local bytes become the item's newer content.
    case local
    /// The store's version stays; the copy is deleted.
    case remote
    /// Both stay unchanged.
    case both
}
