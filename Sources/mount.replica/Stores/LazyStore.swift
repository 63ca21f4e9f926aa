import ReplicaModel
import Threads

/// A store that is opened lazily, so that a domain can be mounted while its store is unreachable.
final class LazyStore: RemoteStore {
    private struct Attempt {
        var task: Task<Result<OpenStore, OpeningFailure>, Never>?
        var failure: OpeningFailure?
    }

    private let known: StoreProperties
    private let reached: @Sendable (StoreProperties) -> Void
    private let opening: @Sendable () async throws(OpeningFailure) -> OpenStore
    private let opened = Locked<OpenStore?>(nil)
    private let attempt = Locked(Attempt())
    private let isFullPollWanted = Locked(false)
    private let listeners = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// The store's own properties once it is open, until then the recorded ones.
    var properties: StoreProperties { opened.withLock { $0 }?.store.properties ?? known }

    /// Why the store can't be used now, in one line, if the errors of its calls don't say it.
    var trouble: String? {
        if let opened = opened.withLock({ $0 }) { return opened.trouble() }
        return attempt.withLock { $0.failure?.message }
    }

    /// - Parameters:
    ///   - known: The store's properties when it was last open.
    ///   - reached: Called once with its properties when it is open.
    ///   - opening: Opens it; called again at later calls until it succeeds.
    init(
        known: StoreProperties, reached: @escaping @Sendable (StoreProperties) -> Void = { _ in },
        opening: @escaping @Sendable () async throws(OpeningFailure) -> OpenStore
    ) {
        self.known = known
        self.reached = reached
        self.opening = opening
    }

    /// The store, which is opened now if necessary. All calls share one: its feed only has the changes that were made
    /// through it.
    private func store() async throws(RemoteStoreError) -> any RemoteStore {
        if let opened = opened.withLock({ $0 }) { return opened.store }
        let task = attempt.withLock { attempt in
            let task = attempt.task ?? Task { await open() }
            attempt.task = task
            return task
        }
        do throws(OpeningFailure) { return try await task.value.get().store } catch { throw error.error }
    }

    /// Opens it; one at a time.
    private func open() async -> Result<OpenStore, OpeningFailure> {
        if let opened = opened.withLock({ $0 }) { return .success(opened) }
        let outcome: Result<OpenStore, OpeningFailure>
        do throws(OpeningFailure) { outcome = .success(try await opening()) } catch { outcome = .failure(error) }
        if case .success(let fresh) = outcome {
            opened.withLock { $0 = fresh }
            if isFullPollWanted.withLock({ $0 }) { fresh.store.pollEverything() }
            reached(fresh.store.properties)
            Task { [listeners] in
                for await _ in fresh.store.signals() { listeners.continuation.yield() }
                listeners.continuation.finish()
            }
        }
        attempt.withLock { attempt in
            attempt.task = nil
            attempt.failure = if case .failure(let error) = outcome { error } else { nil }
        }
        return outcome
    }

    /// Ends the store's processes and connections. Calls fail afterwards.
    func close() async { await opened.withLock { $0 }?.close() }

    var executor: (any TaskExecutor)? { opened.withLock { $0 }?.store.executor }

    func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item {
        try await store().item(identifier)
    }

    func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage {
        try await store().enumerateItems(in: folder, from: page)
    }

    func recognize(_ anchor: SyncAnchor) async throws(RemoteStoreError) {
        try await store().recognize(anchor)
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

    func pollEverything() {
        isFullPollWanted.withLock { $0 = true }
        opened.withLock { $0 }?.store.pollEverything()
    }

    func signals() -> AsyncStream<Void> { listeners.stream }

    func makeDurable() async throws(RemoteStoreError) {
        try await store().makeDurable()
    }

    func usage() async throws(RemoteStoreError) -> StoreUsage? { try await store().usage() }

    func importDidFinish() async {
        await opened.withLock { $0 }?.store.importDidFinish()
    }
}
