/// The consequence of a store's error, besides the item's own failure.
enum FailureOutcome: Sendable, Hashable {
    case nothing
    /// Apply this state of an item: it explains the error.
    case apply(Item)
    /// Fetch the item's present state from the store and apply it.
    case ask(ItemIdentifier)
    /// The item is gone from the store.
    case deleted(ItemIdentifier)
    /// The error concerns the whole domain: nothing else is sent for a while.
    case holdBack
}
