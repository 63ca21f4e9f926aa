public import ReplicaModel

/// A working store to start from: copy it, and replace ``ExampleService`` with calls of your service.
///
/// It is a minimal store: no feed, no ranges, no symlinks, one kind of metadata. `docs/WRITING_A_STORE.md`
/// explains it step by step.
public struct ExampleStore: RemoteStore {
    private let service: ExampleService

    /// A store on `service`, which others may use at the same time.
    public init(_ service: ExampleService) {
        self.service = service
    }

    public var properties: StoreProperties {
        var properties = StoreProperties()
        properties.fields = [.contents, .place, .modificationDate]
        properties.keepsSymlinks = false
        properties.fetchesRanges = false
        properties.hasChangeFeed = false
        return properties
    }

    public func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item {
        if identifier == .trash { throw .unsupported("this store keeps no trash") }
        return try await service.object(identifier).item
    }

    public func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage {
        guard try await item(folder).kind == .folder else { throw .cannotSynchronize("not a folder") }
        return ItemPage(items: await service.objects(in: folder).map(\.item))
    }

    public func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor { SyncAnchor("none") }

    public func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        throw .syncAnchorExpired
    }

    public func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item {
        let object = try await service.object(identifier)
        guard object.item.kind == .file else { throw .cannotSynchronize("only files have contents") }
        if let version, version != object.item.version.content { throw .versionNoLongerAvailable }
        try object.content.withUnsafeBufferPointer { bytes throws(RemoteStoreError) in
            try sink.write(UnsafeRawBufferPointer(bytes), at: 0)
        }
        return object.item
    }

    public func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        guard template.kind != .symlink else { throw .unsupported("symlinks") }
        let content = try contents?.allBytes()
        var item = Item(
            identifier: template.identifier, parent: template.parent, filename: template.filename,
            kind: template.kind, version: .beforeFirstSync, size: contents?.size ?? 0)
        item.metadata.take(fields.intersection(properties.fields), from: template.metadata)
        do {
            let object = ExampleService.Object(
                item: item, content: content ?? [], template: template.identifier)
            return StoreResult(item: try await service.add(object), stillPending: unkept(fields))
        } catch .filenameCollision(let other?) where options.contains(.mayAlreadyExist) && other.kind == item.kind {
            let isEqual = item.kind == .folder ? true : try await service.object(other.identifier).content == content
            guard isEqual else { throw .filenameCollision(other) }
            return StoreResult(item: other)
        }
    }

    public func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item? {
        await service.object(madeFrom: template.identifier)?.item
    }

    public func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        let content = try contents?.allBytes()
        let kept = changedFields.intersection(properties.fields)
        let (item, former) = try await service.change(template.identifier) { object throws(RemoteStoreError) in
            if content != nil, object.item.version.content != base.content {
                throw .versionConflict(object.item)
            }
            if kept.contains(.parent) { object.item.parent = template.parent }
            if kept.contains(.filename) { object.item.filename = template.filename }
            object.item.metadata.take(kept, from: template.metadata)
            if let content { object.content = content }
        }
        let isOther = content == nil && former.version.content != base.content
        return StoreResult(item: item, stillPending: unkept(changedFields), shouldFetchContent: isOther)
    }

    public func deleteItem(
        _ identifier: ItemIdentifier, base: ItemVersion
    ) async throws(RemoteStoreError) {
        try await service.remove(identifier) { item in
            item.kind == .folder || item.version.content == base.content
        }
    }

    /// This service sends no notifications: the engine polls.
    public func signals() -> AsyncStream<Void> { AsyncStream { $0.finish() } }

    /// The service has synced everything that it acknowledged.
    public func makeDurable() async throws(RemoteStoreError) {}

    public func importDidFinish() async {}

    private func unkept(_ fields: ItemFields) -> ItemFields { fields.subtracting(properties.fields) }
}
