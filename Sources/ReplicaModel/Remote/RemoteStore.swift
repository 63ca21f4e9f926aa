/// A remote store: the only thing to write for a new kind of storage.
///
/// All methods may be called at once from any number of tasks, also for one folder; never twice at once for one item.
/// Blocking work belongs on a thread of the store's own. A store never makes conflict copies, never retries for ever
/// and never deletes on doubt: it answers with an error, and the engine decides. `ReplicaTestSupport.StorePromises`
/// holds a store to all of this.
public protocol RemoteStore: Sendable {
    /// What the store can keep and do; constant from its first answer on. Before that it may be what was known of it.
    var properties: StoreProperties { get }

    /// The threads that its calls block; nil, as by default, for calls that block none. The engine sends from there, so that
    /// a call costs no change of thread.
    var executor: (any TaskExecutor)? { get }

    /// The item as it is now.
    /// - Throws: ``RemoteStoreError/noSuchItem(_:)`` only on positive proof.
    func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item

    /// The items directly in `folder`, page by page; nil starts. A failed listing throws, it never ends early.
    func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage

    /// The present point in the store's history: asked for before a listing, so that no change is missed.
    func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor

    /// What happened after `anchor`. Items under folders that were never listed may be left out.
    /// - Throws: ``RemoteStoreError/syncAnchorExpired`` when the store cannot tell any more; always, in a store
    ///   without a feed.
    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch

    /// Fetches `range` of the content, or all of it for nil.
    /// - Parameter version: The content version wanted; nil for whatever is newest.
    /// - Returns: The item that the bytes belong to.
    /// - Throws: ``RemoteStoreError/versionNoLongerAvailable`` when the content is not `version`.
    func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item

    /// Makes an item. It becomes visible whole or not at all, and never replaces another.
    ///
    /// With ``CreateOptions/mayAlreadyExist`` an item of the same name and kind is taken instead: a folder or a
    /// symlink to the same target as it is, a file when its content equals `contents` (nil equals nothing).
    /// - Parameter contents: Set exactly when `fields` has `contents` (statement 86).
    /// - Throws: ``RemoteStoreError/filenameCollision(_:)`` with the other item;
    ///   ``RemoteStoreError/noSuchItem(_:)`` when the parent is gone.
    func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult

    /// The item that an earlier, unanswered ``createItem(basedOn:fields:contents:options:)`` with this very template
    /// made, or nil when there is none. Asked before such a create is repeated or given up; when the item is gone here
    /// by then, the template has no ``ItemTemplate/target`` and no metadata but the modification date.
    func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item?

    /// Changes `changedFields` of an item to what `template` says.
    ///
    /// Where no contents are sent and the store's content is not `base.content`, the answer says so by
    /// ``StoreResult/shouldFetchContent``. Without that its content version stands for the content of the base.
    /// - Parameter base: The version the change was made on.
    /// - Throws: ``RemoteStoreError/versionConflict(_:)`` when contents are sent and the store's content is not
    ///   `base.content`; ``RemoteStoreError/filenameCollision(_:)``; ``RemoteStoreError/noSuchItem(_:)`` naming the
    ///   item or the new parent.
    func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult

    /// Deletes an item, a folder only when nothing is in it; an unknown one is a success.
    /// - Throws: ``RemoteStoreError/deletionRejected(_:)`` when a file's content is not `base.content`;
    ///   ``RemoteStoreError/directoryNotEmpty(_:)``.
    func deleteItem(
        _ identifier: ItemIdentifier, base: ItemVersion
    ) async throws(RemoteStoreError)

    /// Yields whenever something may have changed in the store; ends when it never will again.
    func signals() -> AsyncStream<Void>

    /// Returns when all that calls have made so far would survive a power cut of where the store is kept: what both sides had
    /// is believed after one only then. Empty where an answer means that already, as a service's does.
    func makeDurable() async throws(RemoteStoreError)

    /// All items of an import, a reimport or a first listing have been handed over.
    func importDidFinish() async
}

extension RemoteStore {
    public var executor: (any TaskExecutor)? { nil }
}
