/// A set of the domain's items that can be followed (MODEL.md#sets: enumeratorForMaterializedItems and
/// enumeratorForPendingItems).
package enum ItemSet: Int, Sendable, Hashable, CaseIterable {
    /// Items stored on this disk: files with content, folders with a listing, symlinks (statement 42).
    case materialized = 0
    /// Items that the store does not have yet (statement 43).
    case pending = 1

    /// The rows in it. Pending items are found by an index, whose condition is the first part of this one.
    var condition: String {
        switch self {
        case .materialized:
            "materialization != \(materialization: .dataless) AND \(RowCondition.isThere) AND number != 1"
        case .pending:
            """
            (\(RowCondition.mayBePending)) AND (dirty != 0 OR flags & \(flags: .deleted) = \(flags: .deleted)) \
            AND flags & \(flags: [.excluded, .special, .refused]) = 0
            """
        }
    }
}

/// A batch of the changes of a set after an anchor.
package struct ItemSetChanges: Sendable {
    /// An item that left the set.
    package struct Departure: Sendable, Hashable {
        /// The inode number that programs see.
        package var number: ItemNumber
        /// The store's identifier when it entered the set; nil if it had none then.
        package var identifier: ItemIdentifier?
        /// Its path below the root; nil if it is gone.
        package var path: [FileName]?
    }
    /// The items that entered the set and are still in it.
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
    /// - Throws: The error of the database or the disk.
    package func anchor(of set: ItemSet) throws -> SyncAnchor {
        try replica.record()
        let anchor = try replica.database.write { rows in
            let present = try ItemSetHistory(set).catchUp(in: rows)
            return ItemSetHistory.Point(sequence: present, number: .max).anchor
        }
        try replica.database.makeDurable()
        return anchor
    }

    /// The items that entered or left a set after `anchor`, each once, in its current state. An item that entered and
    /// left may be reported as having left.
    /// - Throws: ``RemoteStoreError/syncAnchorExpired`` for an anchor that is too old or of another domain: the set has
    ///   to be read again; the error of the database or the disk.
    package func changes(of set: ItemSet, since anchor: SyncAnchor) throws -> ItemSetChanges {
        guard let start = ItemSetHistory.Point(anchor) else { throw RemoteStoreError.syncAnchorExpired }
        try replica.record()
        let changes = try replica.database.write { rows in try ItemSetHistory(set).changes(after: start, in: rows) }
        // A power cut may undo what was reported: it is then reported again.
        try replica.database.makeDurable()
        return ItemSetChanges(
            entered: changes.entered.map(withTransfer), left: changes.left, anchor: changes.anchor,
            moreComing: changes.moreComing)
    }
}
