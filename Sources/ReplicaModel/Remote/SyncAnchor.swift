/// A point in a store's history, at most 500 bytes (MODEL.md#items).
public struct SyncAnchor: Hashable, Sendable, Codable {
    public let bytes: [UInt8]

    /// An anchor of a store's own bytes.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// An anchor of a store's own text.
    public init(_ text: String) {
        bytes = Array(text.utf8)
    }
}

/// Where an enumeration goes on, at most 500 bytes.
public struct EnumerationPage: Hashable, Sendable {
    public let bytes: [UInt8]

    /// A page of a store's own bytes.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }
}

/// Some of a folder's items.
public struct ItemPage: Sendable {
    public var items: [Item]
    /// Nil when these were the last.
    public var next: EnumerationPage?

    public init(items: [Item], next: EnumerationPage? = nil) {
        self.items = items
        self.next = next
    }
}

/// What happened in the store after an anchor.
public struct ChangeBatch: Sendable {
    /// The items created or changed, each in its newest state.
    public var updated: [Item]
    /// The items that are positively gone.
    public var deleted: [ItemIdentifier]
    /// Those of ``updated`` that may have another content though their content version is the same
    /// (``StoreProperties/tellsEveryContent``): what is here of them is compared.
    public var rewritten: Set<ItemIdentifier> = []
    /// The anchor after these changes.
    public var anchor: SyncAnchor
    /// Whether there is more to ask for from ``anchor`` at once.
    public var moreComing: Bool

    public init(updated: [Item], deleted: [ItemIdentifier], anchor: SyncAnchor, moreComing: Bool = false) {
        self.updated = updated
        self.deleted = deleted
        self.anchor = anchor
        self.moreComing = moreComing
    }
}
