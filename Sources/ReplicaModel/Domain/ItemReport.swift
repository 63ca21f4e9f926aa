/// The state of an item.
/// Large: a field for each one of the printed report.
package struct ItemReport: Sendable, Hashable {
    /// The path below the root; for a deleted item, its former one.
    package var path: [FileName]
    /// The inode number that programs see.
    package var number: ItemNumber
    /// The store's identifier; nil while it has none.
    package var identifier: ItemIdentifier?
    /// Nil for devices, sockets and fifos.
    package var kind: ItemKind?
    /// How much of it is local; a folder's content is its listing.
    package var materialization: Materialization
    /// In bytes; 0 for folders.
    package var size: Int64
    /// Bytes of content on this disk.
    package var bytesHere: Int64
    /// The pin of the item itself.
    package var pin: Pin
    /// Whether it is kept locally, by its own pin or by that of a parent folder.
    package var isPinned: Bool
    /// The fields that the store does not have yet.
    package var pending: ItemFields
    /// Whether it is deleted locally and the deletion is not sent yet.
    package var isDeleted: Bool
    /// Whether it is the local side of an unresolved conflict.
    package var isConflict: Bool
    /// The version that the store last confirmed.
    package var version: ItemVersion?
    package var capabilities: Capabilities
    /// Why it is not in sync, if the last attempt failed.
    package var error: ItemError?
    /// The transfer under way, if one is.
    package var transfer: ItemTransfer?
}

/// Why the last attempt for an item failed.
package struct ItemError: Error, Sendable, Hashable {
    /// A ``RemoteStoreError/code``.
    package var code: String
    /// One line for the user.
    package var message: String
    /// Tries so far.
    package var attempts: Int
    /// When it is retried; nil if it waits for the user or an edit.
    package var retryAt: Timestamp?
}

/// The progress of one item's transfer.
package struct ItemTransfer: Sendable, Hashable {
    package var isUpload: Bool
    /// Bytes done so far.
    package var done: Int64
    /// Bytes in all.
    package var size: Int64
}

extension ItemReport {
    init(_ row: ItemRow, path: [FileName], isPinned: Bool) {
        self.path = path
        number = ItemNumber(row.inodeNumber)
        identifier = row.flags.contains(.reimport) ? nil : row.base?.identifier
        kind = row.flags.contains(.special) ? nil : row.kind
        materialization = row.materialization
        size = row.kind == .file ? row.fingerprint.size : 0
        bytesHere = row.here
        pin = row.pin
        self.isPinned = isPinned
        let isKept = row.flags.isDisjoint(with: [.special, .excluded, .refused])
        pending = isKept ? row.dirty : []
        isDeleted = row.flags.contains(.deleted)
        isConflict = row.flags.contains(.conflict)
        version = row.flags.contains(.reimport) ? nil : row.base?.version
        capabilities = row.base?.capabilities ?? .all
        error = row.failure.map { failure in
            ItemError(
                code: failure.code, message: failure.message, attempts: failure.attempts,
                retryAt: failure.retryAt.map { Timestamp(secondsSince1970: $0) })
        }
    }

    /// Whether something of it is not sent yet.
    package var isPending: Bool { isDeleted || !pending.isEmpty }
}
