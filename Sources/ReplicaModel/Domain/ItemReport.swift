/// An item, as the domain knows it.
public struct ItemReport: Sendable, Hashable {
    /// Below the root; of a deleted item where it was.
    public var path: [FileName]
    /// The inode number that programs see.
    public var number: ItemNumber
    /// The store's identifier; nil while it has none.
    public var identifier: ItemIdentifier?
    /// Nil for devices, sockets and fifos.
    public var kind: ItemKind?
    /// How much is here; a folder's content is its listing.
    public var materialization: Materialization
    /// In bytes; 0 for folders.
    public var size: Int64
    /// Bytes of content on this disk.
    public var bytesHere: Int64
    /// What was asked for at the item itself.
    public var pin: Pin
    /// Whether it is kept here, by its own pin or that of a folder above it.
    public var isPinned: Bool
    /// The fields that the store does not have yet.
    public var pending: ItemFields
    /// Whether it is gone here and the store is still to learn of that.
    public var isDeleted: Bool
    /// Whether it is the local side of a conflict nobody settled yet.
    public var isConflict: Bool
    /// The version that the store last confirmed.
    public var version: ItemVersion?
    public var capabilities: Capabilities
    /// Why it is not in step, if the last try failed.
    public var error: ItemError?
    /// The transfer under way, if one is.
    public var transfer: ItemTransfer?
}

/// Why the last try for an item failed.
public struct ItemError: Error, Sendable, Hashable {
    /// A ``RemoteStoreError/code``.
    public var code: String
    /// One line for a person.
    public var message: String
    /// Tries so far.
    public var attempts: Int
    /// When it is tried again; nil when it waits for a person or an edit.
    public var retryAt: Timestamp?
}

/// How far the transfer of one item has come.
public struct ItemTransfer: Sendable, Hashable {
    public var isUpload: Bool
    /// Bytes done so far.
    public var done: Int64
    /// Bytes in all.
    public var size: Int64
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

    /// Whether the store is still to learn something of it.
    public var isPending: Bool { isDeleted || !pending.isEmpty }
}
