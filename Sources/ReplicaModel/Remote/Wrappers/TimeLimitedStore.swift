/// A store whose calls all end in bounded time, even if the wrapped store never answers (``CallTimeouts``), except changes and
/// ``itemCreated(from:)``: their sender watches them in its own task (``SyncEngine/answer(to:_:_:asked:)``).
struct TimeLimitedStore: RemoteStore {
    let store: any RemoteStore
    let callTimeouts: CallTimeouts

    var properties: StoreProperties { store.properties }

    var executor: (any TaskExecutor)? { store.executor }

    func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item {
        // What a change that still runs will do to it is not known.
        if callTimeouts.isAbandoned(identifier) { throw .unanswered }
        return try await watched(.item, identifier) { () async throws(RemoteStoreError) in
            try await store.item(identifier)
        }
    }

    func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage {
        try await watched(.listing, folder) { () async throws(RemoteStoreError) in
            try await store.enumerateItems(in: folder, from: page)
        }
    }

    func recognize(_ anchor: SyncAnchor) async throws(RemoteStoreError) {
        try await watched(.recognition) { () async throws(RemoteStoreError) in try await store.recognize(anchor) }
    }

    func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor {
        try await watched(.anchor) { () async throws(RemoteStoreError) in try await store.currentAnchor() }
    }

    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        try await watched(.changes) { () async throws(RemoteStoreError) in
            try await store.enumerateChanges(from: anchor)
        }
    }

    func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item {
        let progress = CallTimeouts.Progress()
        let closable = ClosableSink(sink) { callTimeouts.hear(progress) }
        do throws(RemoteStoreError) {
            return try await watched(.fetch, identifier, progress) { () async throws(RemoteStoreError) in
                try await store.fetchContents(of: identifier, version: version, range: range, into: closable)
            }
        } catch {
            // The caller closes its file now.
            await closable.close()
            throw error
        }
    }

    func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        try await store.createItem(basedOn: template, fields: fields, contents: contents, options: options)
    }

    func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item? {
        try await store.itemCreated(from: template)
    }

    func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        try await store.modifyItem(template, base: base, changedFields: changedFields, contents: contents)
    }

    func deleteItem(_ identifier: ItemIdentifier, base: ItemVersion) async throws(RemoteStoreError) {
        try await store.deleteItem(identifier, base: base)
    }

    func pollEverything() { store.pollEverything() }

    func signals() -> AsyncStream<Void> { store.signals() }

    func makeDurable() async throws(RemoteStoreError) {
        try await watched(.sync) { () async throws(RemoteStoreError) in try await store.makeDurable() }
    }

    func usage() async throws(RemoteStoreError) -> StoreUsage? {
        try await watched(.usage) { () async throws(RemoteStoreError) in try await store.usage() }
    }

    func importDidFinish() async {
        // It has no answer that could be missed.
        try? await watched(.importEnd) { () async throws(RemoteStoreError) in await store.importDidFinish() }
    }

    private func watched<Value: Sendable>(
        _ kind: CallTimeouts.Key.Kind, _ identifier: ItemIdentifier? = nil,
        _ progress: CallTimeouts.Progress = CallTimeouts.Progress(),
        _ body: @escaping @Sendable () async throws(RemoteStoreError) -> Value
    ) async throws(RemoteStoreError) -> Value {
        try await callTimeouts.call(.init(kind: kind, identifier: identifier), progress, on: executor, body)
    }
}
