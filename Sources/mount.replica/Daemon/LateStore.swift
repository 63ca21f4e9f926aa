import ReplicaModel
import Threads

/// A store that is open, with what is to be known of it beside its calls.
struct OpenStore: Sendable {
    var store: any RemoteStore
    /// Why it can't be used now, where that is known better than by the errors of its calls.
    var trouble: @Sendable () -> String? = { nil }
    /// Ends what it has running.
    var close: @Sendable () async -> Void = {}
}

/// Why a store can't be opened now.
struct OpeningFailure: Error {
    /// What its calls end with.
    var error: RemoteStoreError
    /// One line for a person.
    var message: String
}

/// A store that is opened lazily, so that a domain can be mounted while its store is unreachable.
final class LateStore: RemoteStore {
    private struct Attempt {
        var task: Task<Result<OpenStore, OpeningFailure>, Never>?
        var failure: OpeningFailure?
    }

    private let known: StoreProperties
    private let reached: @Sendable (StoreProperties) -> Void
    private let opening: @Sendable () async throws(OpeningFailure) -> OpenStore
    private let opened = Locked<OpenStore?>(nil)
    private let attempt = Locked(Attempt())
    private let listeners = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// The store's own once it is open; until then what was known of it.
    var properties: StoreProperties { opened.withLock { $0 }?.store.properties ?? known }

    /// Why the store can't be used now, as far as an error of a call does not say it: in one line.
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

    /// The store, opened now if it was not: one for all calls, for only what was done through it is in its feed.
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

    /// Ends what the store has running. Calls are no longer of use then.
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

    func signals() -> AsyncStream<Void> { listeners.stream }

    func makeDurable() async throws(RemoteStoreError) {
        try await store().makeDurable()
    }

    func importDidFinish() async {
        await opened.withLock { $0 }?.store.importDidFinish()
    }
}
