/// A set of the domain's items that can be followed (MODEL.md#sets: enumeratorForMaterializedItems and
/// enumeratorForPendingItems).
package enum ItemSet: Int, Sendable, Hashable, CaseIterable {
    /// What is stored on this disk: files with content, folders with a listing, symlinks (statement 42).
    case materialized = 0
    /// What the store does not have yet (statement 43).
    case pending = 1

    /// The rows in it. Pending items are found by an index, whose condition is the first part of this one.
    var condition: String {
        switch self {
        case .materialized: "materialization != 2 AND flags & 1 = 0 AND number != 1"
        case .pending:
            "(dirty != 0 OR flags & 1057 != 0 OR placeName IS NOT NULL OR sentName IS NOT NULL) AND (dirty != 0 OR flags & 1 = 1) AND flags & 784 = 0"
        }
    }
}

/// What became of a set after an anchor: a batch of it.
package struct ItemSetChanges: Sendable {
    /// An item that left the set.
    package struct Departure: Sendable, Hashable {
        /// The inode number that programs see.
        package var number: ItemNumber
        /// What the store called it when it came into the set; nil when it had no name for it then.
        package var identifier: ItemIdentifier?
        /// Where it is, below the root; nil when it is gone.
        package var path: [FileName]?
    }
    /// The items that came into the set and are in it now.
    package var entered: [ItemReport]
    package var left: [Departure]
    /// The anchor after these changes.
    package var anchor: SyncAnchor
    /// Whether more changes can be requested immediately from ``anchor``.
    package var moreComing: Bool
}

extension Domain {
    /// Calls `body` with the items of a set, in batches. They are read from the database batch by batch: changes made
    /// in the meantime may or may not be included, and are in the ``changes(of:since:)`` of an anchor taken before.
    package func forEach(in set: ItemSet, _ body: ([ItemReport]) async throws -> Void) async throws {
        try await forEach(set.condition, body)
    }

    /// The present point in a set's history. It stays valid over restarts and power cuts.
    /// - Throws: The database's error; what the disk says.
    package func anchor(of set: ItemSet) throws -> SyncAnchor {
        try replica.record()
        let anchor = try replica.database.write { rows in
            let present = try SetHistory(set).catchUp(in: rows)
            return SetHistory.Point(sequence: present, number: .max).anchor
        }
        try replica.database.makeDurable()
        return anchor
    }

    /// The items that entered or left a set after `anchor`, each once, in its current state. An item that entered and
    /// left may be reported as having left.
    /// - Throws: ``RemoteStoreError/syncAnchorExpired`` for an anchor that is too old or another's: the set is to be
    ///   read anew; the database's error; what the disk says.
    package func changes(of set: ItemSet, since anchor: SyncAnchor) throws -> ItemSetChanges {
        guard let start = SetHistory.Point(anchor) else { throw RemoteStoreError.syncAnchorExpired }
        try replica.record()
        let changes = try replica.database.write { rows in try SetHistory(set).changes(after: start, in: rows) }
        // A power cut may undo what was reported: it is then reported again.
        try replica.database.makeDurable()
        return ItemSetChanges(
            entered: changes.entered.map(withTransfer), left: changes.left, anchor: changes.anchor,
            moreComing: changes.moreComing)
    }
}
