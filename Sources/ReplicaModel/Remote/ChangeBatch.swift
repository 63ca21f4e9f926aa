/// The changes in the store since an anchor.
public struct ChangeBatch: Sendable {
    /// The created or changed items, each in its newest state.
    public var updated: [Item]
    /// The items that were definitely deleted.
    public var deleted: [ItemIdentifier]
    /// The items in ``updated`` that may have new content although their content version has not changed
    /// (``StoreProperties/reportsEveryContentChange``): their local content is compared.
    public var rewritten: Set<ItemIdentifier> = []
    /// The anchor after these changes.
    public var anchor: SyncAnchor
    /// Whether there are more changes to request from ``anchor``.
    public var moreComing: Bool
    /// Whether earlier changes are still missing because the store cannot describe them yet, for example the move of an item whose new place
    /// it has not found. A later batch reports them: the engine requests another one at once, and whoever waits for all changes goes on waiting, for
    /// at most 30 seconds.
    public var isIncomplete = false
    /// What the store leaves out of its folders, as far as they were listed; nil if nothing is known to be.
    public var leftOut: LeftOutItems?

    public init(updated: [Item], deleted: [ItemIdentifier], anchor: SyncAnchor, moreComing: Bool = false) {
        self.updated = updated
        self.deleted = deleted
        self.anchor = anchor
        self.moreComing = moreComing
    }
}
