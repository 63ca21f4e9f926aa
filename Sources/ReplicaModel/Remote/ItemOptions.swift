/// What a ``RemoteStore/createItem(basedOn:fields:contents:options:)`` may assume (MODEL.md#calls).
public struct CreateOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The item comes from an import, a reimport or a merge: it may already exist in the store (statement 15).
    public static let mayAlreadyExist = CreateOptions(rawValue: 1)
    /// The item was deleted in the store while it was edited locally.
    public static let deletionConflicted = CreateOptions(rawValue: 2)
}

/// A store's answer to a create or a modify.
public struct StoreResult: Sendable, Hashable {
    /// The item in the store; nil if it must not exist locally: its local bytes are moved to `kept/`.
    public var item: Item?
    /// The fields that the store has not stored yet. If it equals the set that was sent, the store cannot keep them.
    public var stillPending: ItemFields
    /// Whether the store's content has to be fetched, because it differs from what was sent or, if no content was sent,
    /// from that of the base. Otherwise the content version in ``item`` is recorded as the version of the local
    /// content, even if it differs from the base's.
    public var shouldFetchContent: Bool

    public init(item: Item?, stillPending: ItemFields = [], shouldFetchContent: Bool = false) {
        self.item = item
        self.stillPending = stillPending
        self.shouldFetchContent = shouldFetchContent
    }
}
