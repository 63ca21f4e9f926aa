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
