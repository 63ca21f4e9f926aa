/// The numbers that columns have for the model's values, so that SQL names the values: `flags & \(flags: .deleted) = 0`.
///
/// The text that SQLite gets has the plain numbers. They are on users' disks, in rows and in the conditions of indices and
/// triggers, and an index is only used by a query with the same numbers: ``NodeFlags``, ``ItemFields``, ``ItemKind``,
/// ``Materialization`` and ``Pin`` never change theirs.
extension DefaultStringInterpolation {
    mutating func appendInterpolation(flags: NodeFlags) { appendInterpolation(flags.rawValue) }

    mutating func appendInterpolation(fields: ItemFields) { appendInterpolation(fields.rawValue) }

    mutating func appendInterpolation(kind: ItemKind) { appendInterpolation(kind.rawValue) }

    mutating func appendInterpolation(materialization: Materialization) {
        appendInterpolation(materialization.rawValue)
    }

    mutating func appendInterpolation(pin: Pin) { appendInterpolation(pin.rawValue) }
}

/// Conditions on the rows of `item` that several queries have.
enum RowCondition {
    /// The item is not deleted.
    static let isThere = "flags & \(flags: .deleted) = 0"
    /// The item may have something to send, or unanswered calls: the condition of the index `itemPending`.
    static let mayBePending = """
        dirty != 0 OR flags & \(flags: [.deleted, .writing, .needsListing]) != 0 OR placeName IS NOT NULL \
        OR sentName IS NOT NULL
        """
    /// The item is the copy of an unresolved conflict: the condition of the index `itemConflict`.
    static let isConflict = "flags & \(flags: [.conflict, .deleted]) = \(flags: .conflict)"
    /// The item is pinned itself: the condition of the index `itemPin`.
    static let isPinned = "pin = \(pin: .pinned)"
}
