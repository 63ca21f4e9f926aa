import ReplicaModel
import Threads

/// A store that is opened lazily, so that a domain can be mounted while its store is unreachable.
final class LateStore: RemoteStore {
    private let known: StoreProperties
    private let reached: @Sendable (StoreProperties) -> Void
    private let opening: @Sendable () throws(RemoteStoreError) -> any RemoteStore
    private let opened: Locked<(any RemoteStore)?>
    private let listeners = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// The store's own once it is open; until then what was known of it.
    var properties: StoreProperties { opened.withLock { $0 }?.properties ?? known }

    /// - Parameters:
    ///   - known: The store's properties when it was last open.
    ///   - reached: Called once with its properties when it is open.
    ///   - opening: Opens it; called again at later calls until it succeeds.
    init(
        known: StoreProperties, reached: @escaping @Sendable (StoreProperties) -> Void = { _ in },
        opening: @escaping @Sendable () throws(RemoteStoreError) -> any RemoteStore
    ) {
        self.known = known
        self.reached = reached
        self.opening = opening
        opened = Locked(nil)
    }

    /// The store, opened now if necessary. All calls share one, because its feed only knows its own changes.
    private func store() throws(RemoteStoreError) -> any RemoteStore {
        if let store = opened.withLock({ $0 }) { return store }
        let fresh: any RemoteStore
        do throws(RemoteStoreError) {
            fresh = try opening()
        } catch {
            throw .serverUnreachable
        }
        let (store, isFirst) = opened.withLock { opened in
            // Another call may have had one open by then.
            defer { opened = opened ?? fresh }
            return (opened ?? fresh, opened == nil)
        }
        if isFirst {
            reached(store.properties)
            Task { [listeners] in
                for await _ in store.signals() { listeners.continuation.yield() }
                listeners.continuation.finish()
            }
        }
        return store
    }

    var executor: (any TaskExecutor)? { opened.withLock { $0 }?.executor }

    func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item {
        try await store().item(identifier)
    }

    func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage {
        try await store().enumerateItems(in: folder, from: page)
    }

    func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor {
        try await store().currentAnchor()
    }

    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        try await store().enumerateChanges(from: anchor)
    }

    func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item {
        try await store().fetchContents(of: identifier, version: version, range: range, into: sink)
    }

    func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        try await store().createItem(basedOn: template, fields: fields, contents: contents, options: options)
    }

    func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item? {
        try await store().itemCreated(from: template)
    }

    func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        try await store().modifyItem(
            template, base: base, changedFields: changedFields, contents: contents)
    }

    func deleteItem(
        _ identifier: ItemIdentifier, base: ItemVersion
    ) async throws(RemoteStoreError) {
        try await store().deleteItem(identifier, base: base)
    }

    func signals() -> AsyncStream<Void> { listeners.stream }

    func makeDurable() async throws(RemoteStoreError) {
        try await store().makeDurable()
    }

    func importDidFinish() async {
        await opened.withLock { $0 }?.importDidFinish()
    }
}
