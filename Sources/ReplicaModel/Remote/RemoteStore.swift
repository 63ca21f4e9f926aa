/// A remote store: the only type to write for a new kind of storage.
///
/// All methods may be called concurrently from any number of tasks, also for the same folder, but never twice at once for the
/// same item. Blocking work belongs on threads of the store's own. A store never makes conflict copies, never retries without
/// end and never deletes when in doubt: it throws an error, and the engine decides. `ReplicaTestSupport.StorePromises`
/// checks all of this.
public protocol RemoteStore: Sendable {
    /// What the store can keep and do; constant after its first answer. Before that, these may be the properties known from earlier.
    var properties: StoreProperties { get }

    /// The threads on which its calls block; nil (the default) if they do not block. The engine sends from these threads, so that
    /// calls need no thread switch.
    var executor: (any TaskExecutor)? { get }

    /// The current item.
    /// - Throws: ``RemoteStoreError/noSuchItem(_:)`` only on positive proof.
    func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item

    /// The items directly in `folder`, page by page; nil starts. A listing that fails throws; it never ends early.
    func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage

    /// Checks that the storage is the same one that returned `anchor`, in this run or an earlier one. Called before
    /// anything is sent. A store that can't tell accepts any anchor; this is the default.
    ///
    /// As long as it is a different storage, it gets no other call. If the user accepts the new storage, the engine
    /// calls ``currentAnchor()`` although this method threw.
    /// - Throws: ``RemoteStoreError/cannotSynchronize(_:)`` if it is certainly a different storage.
    func recognize(_ anchor: SyncAnchor) async throws(RemoteStoreError)

    /// The current point in the store's history. Requested before a listing, so that no change is missed.
    func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor

    /// The changes since `anchor`. Items in folders that were never listed may be omitted.
    /// - Throws: ``RemoteStoreError/syncAnchorExpired`` if the store no longer knows the anchor; always, in a store
    ///   without a feed.
    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch

    /// Fetches a content, or a part of it.
    /// - Parameters:
    ///   - identifier: The file.
    ///   - version: The requested content version; nil for the newest.
    ///   - range: The requested bytes; nil for all.
    ///   - sink: Receives the bytes.
    /// - Returns: The item that the bytes belong to.
    /// - Throws: ``RemoteStoreError/versionNoLongerAvailable`` if the content is not `version`.
    func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item

    /// Creates an item. It appears atomically, and never replaces another.
    ///
    /// With ``CreateOptions/mayAlreadyExist`` an existing item of the same name and kind is adopted: a folder, a
    /// symlink with the same target, or a file whose content equals `contents` (nil never equals).
    /// - Parameters:
    ///   - template: The item to create.
    ///   - fields: The fields of the template to store.
    ///   - contents: Set exactly if `fields` includes `contents` (statement 86).
    ///   - options: What may be assumed about the item.
    /// - Throws: ``RemoteStoreError/filenameCollision(_:)`` with the other item;
    ///   ``RemoteStoreError/noSuchItem(_:)`` if the parent does not exist.
    func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult

    /// The item that an earlier, unanswered ``createItem(basedOn:fields:contents:options:)`` with the same template
    /// created, or nil if there is none. Called before such a create is retried or abandoned; if the item has been deleted
    /// locally by then, the template has no ``ItemTemplate/target`` and no metadata except the modification date.
    func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item?

    /// Changes `changedFields` of an item to the values in `template`.
    ///
    /// If no contents are sent and the store's content is not `base.content`, the answer must set
    /// ``StoreResult/shouldFetchContent``. Otherwise its content version is taken as that of the base's content.
    /// - Parameters:
    ///   - template: The item with its new values.
    ///   - base: The version that the change is based on.
    ///   - changedFields: The fields of the template to store.
    ///   - contents: Set exactly if `changedFields` includes `contents`.
    /// - Throws: ``RemoteStoreError/versionConflict(_:)`` if contents are sent and the store's content is not
    ///   `base.content`; ``RemoteStoreError/filenameCollision(_:)``; ``RemoteStoreError/noSuchItem(_:)`` naming the
    ///   item or the new parent.
    func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult

    /// Deletes an item, and a folder only if it is empty; deleting an unknown item succeeds.
    /// - Throws: ``RemoteStoreError/deletionRejected(_:)`` if a file's content is not `base.content`;
    ///   ``RemoteStoreError/directoryNotEmpty(_:)``.
    func deleteItem(
        _ identifier: ItemIdentifier, base: ItemVersion
    ) async throws(RemoteStoreError)

    /// The next ``enumerateChanges(from:)`` must report every change in the storage, even if that takes long, because a caller
    /// waits for it. Empty by default: right for a store that checks on each call or is notified of every change.
    func pollEverything()

    /// Yields whenever something may have changed in the store; finishes if it never will again.
    func signals() -> AsyncStream<Void>

    /// Returns when everything acknowledged so far would survive a power cut of the storage: until then, its state is not trusted
    /// after one. Empty if acknowledged changes are always durable, as in most services.
    func makeDurable() async throws(RemoteStoreError)

    /// The store's space, for df(1); nil (the default) if it is not known. Called at most once a minute.
    func usage() async throws(RemoteStoreError) -> StoreUsage?

    /// All items of an import, a reimport or a first listing have been processed.
    func importDidFinish() async
}

extension RemoteStore {
    public var executor: (any TaskExecutor)? { nil }

    public func recognize(_ anchor: SyncAnchor) async throws(RemoteStoreError) {}

    public func usage() async throws(RemoteStoreError) -> StoreUsage? { nil }

    public func pollEverything() {}
}
