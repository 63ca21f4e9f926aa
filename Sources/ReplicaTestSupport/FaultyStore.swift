public import ReplicaModel

/// A store whose calls fail as a script says: before they reach the store behind it, or after, with the answer lost.
public final class FaultyStore: RemoteStore {
    /// When a fault strikes.
    public enum Moment: Hashable, Sendable {
        /// The store never hears of the call.
        case before
        /// The store executed the call, but its answer is lost.
        case after
    }

    private struct Key: Hashable {
        var method: StoreCall.Method
        var moment: Moment
    }

    private let store: any RemoteStore
    private let script = Locked<[Key: [RemoteStoreError?]]>([:])

    /// A faultless wrapper of `store`, until ``fail(_:_:with:times:after:)`` is called.
    public init(_ store: any RemoteStore) {
        self.store = store
    }

    /// Lets the next calls of `method` fail.
    /// - Parameters:
    ///   - times: How many calls fail.
    ///   - after: How many calls get through before the first that fails.
    public func fail(
        _ method: StoreCall.Method, _ moment: Moment = .before, with error: RemoteStoreError = .serverUnreachable,
        times: Int = 1, after spared: Int = 0
    ) {
        let steps = [RemoteStoreError?](repeating: nil, count: spared) + Array(repeating: error, count: times)
        script.withLock { $0[Key(method: method, moment: moment), default: []] += steps }
    }

    /// Takes back all faults that did not strike yet.
    public func heal() { script.withLock { $0 = [:] } }

    /// Whether every fault has struck.
    public var isSpent: Bool { script.withLock { $0.values.allSatisfy(\.isEmpty) } }

    private func strike(_ method: StoreCall.Method, _ moment: Moment) throws(RemoteStoreError) {
        let key = Key(method: method, moment: moment)
        let step = script.withLock { script -> RemoteStoreError? in
            guard script[key]?.isEmpty == false else { return nil }
            return script[key]?.removeFirst()
        }
        if let step { throw step }
    }

    private func pass<Result: Sendable>(
        _ method: StoreCall.Method, _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        try strike(method, .before)
        let result = try await body()
        try strike(method, .after)
        return result
    }

    public var properties: StoreProperties { store.properties }

    public func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item {
        try await pass(.item) { () async throws(RemoteStoreError) in try await store.item(identifier) }
    }

    public func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage {
        try await pass(.enumerateItems) { () async throws(RemoteStoreError) in
            try await store.enumerateItems(in: folder, from: page)
        }
    }

    public func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor {
        try await pass(.currentAnchor) { () async throws(RemoteStoreError) in try await store.currentAnchor() }
    }

    public func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        try await pass(.enumerateChanges) { () async throws(RemoteStoreError) in
            try await store.enumerateChanges(from: anchor)
        }
    }

    public func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item {
        try await pass(.fetchContents) { () async throws(RemoteStoreError) in
            try await store.fetchContents(of: identifier, version: version, range: range, into: sink)
        }
    }

    public func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        try await pass(.createItem) { () async throws(RemoteStoreError) in
            try await store.createItem(basedOn: template, fields: fields, contents: contents, options: options)
        }
    }

    public func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item? {
        try await pass(.itemCreated) { () async throws(RemoteStoreError) in
            try await store.itemCreated(from: template)
        }
    }

    public func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?,
        options: ModifyOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        try await pass(.modifyItem) { () async throws(RemoteStoreError) in
            try await store.modifyItem(
                template, base: base, changedFields: changedFields, contents: contents, options: options)
        }
    }

    public func deleteItem(
        _ identifier: ItemIdentifier, base: ItemVersion, options: DeleteOptions
    ) async throws(RemoteStoreError) {
        try await pass(.deleteItem) { () async throws(RemoteStoreError) in
            try await store.deleteItem(identifier, base: base, options: options)
        }
    }

    public func signals() -> AsyncStream<Void> { store.signals() }

    public func importDidFinish() async { await store.importDidFinish() }
}
