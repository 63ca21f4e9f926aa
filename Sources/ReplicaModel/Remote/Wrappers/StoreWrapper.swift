/// The methods of ``RemoteStore`` that can fail, and `importDidFinish`.
public enum StoreMethod: String, Hashable, Sendable, CaseIterable {
    case item, enumerateItems, currentAnchor, enumerateChanges, fetchContents
    case createItem, itemCreated, modifyItem, deleteItem, usage, importDidFinish
}

/// A store that adds something to every call of another one. A wrapper implements only ``pass(_:_:hasContents:_:)``.
public protocol StoreWrapper: RemoteStore {
    /// The wrapped store.
    var store: any RemoteStore { get }

    /// Runs one call of the wrapped store. The default adds nothing.
    /// - Parameters:
    ///   - method: The method that was called.
    ///   - identifier: The item, the listed folder or the template; nil if the method has none.
    ///   - hasContents: Whether contents are sent with the call.
    ///   - body: The call.
    func pass<Result: Sendable>(
        _ method: StoreMethod, _ identifier: ItemIdentifier?, hasContents: Bool,
        _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result
}

extension StoreWrapper {
    public var properties: StoreProperties { store.properties }

    public var executor: (any TaskExecutor)? { store.executor }

    public func pass<Result: Sendable>(
        _ method: StoreMethod, _ identifier: ItemIdentifier?, hasContents: Bool,
        _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        try await body()
    }

    public func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item {
        try await pass(.item, identifier, hasContents: false) { () async throws(RemoteStoreError) in
            try await store.item(identifier)
        }
    }

    public func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage {
        try await pass(.enumerateItems, folder, hasContents: false) { () async throws(RemoteStoreError) in
            try await store.enumerateItems(in: folder, from: page)
        }
    }

    public func recognize(_ anchor: SyncAnchor) async throws(RemoteStoreError) { try await store.recognize(anchor) }

    public func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor {
        try await pass(.currentAnchor, nil, hasContents: false) { () async throws(RemoteStoreError) in
            try await store.currentAnchor()
        }
    }

    public func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        try await pass(.enumerateChanges, nil, hasContents: false) { () async throws(RemoteStoreError) in
            try await store.enumerateChanges(from: anchor)
        }
    }

    public func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item {
        try await pass(.fetchContents, identifier, hasContents: false) { () async throws(RemoteStoreError) in
            try await store.fetchContents(of: identifier, version: version, range: range, into: sink)
        }
    }

    public func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        try await pass(.createItem, template.identifier, hasContents: contents != nil) {
            () async throws(RemoteStoreError) in
            try await store.createItem(basedOn: template, fields: fields, contents: contents, options: options)
        }
    }

    public func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item? {
        try await pass(.itemCreated, template.identifier, hasContents: false) {
            () async throws(RemoteStoreError) in
            try await store.itemCreated(from: template)
        }
    }

    public func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        try await pass(.modifyItem, template.identifier, hasContents: contents != nil) {
            () async throws(RemoteStoreError) in
            try await store.modifyItem(
                template, base: base, changedFields: changedFields, contents: contents)
        }
    }

    public func deleteItem(
        _ identifier: ItemIdentifier, base: ItemVersion
    ) async throws(RemoteStoreError) {
        try await pass(.deleteItem, identifier, hasContents: false) { () async throws(RemoteStoreError) in
            try await store.deleteItem(identifier, base: base)
        }
    }

    public func pollEverything() { store.pollEverything() }

    public func signals() -> AsyncStream<Void> { store.signals() }

    public func makeDurable() async throws(RemoteStoreError) { try await store.makeDurable() }

    public func usage() async throws(RemoteStoreError) -> StoreUsage? {
        try await pass(.usage, nil, hasContents: false) { () async throws(RemoteStoreError) in try await store.usage() }
    }

    public func importDidFinish() async { await store.importDidFinish() }
}
