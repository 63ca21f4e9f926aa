import ReplicaModel

/// A store on a ``Shelf``, with a change feed and ranges.
public struct ShelfStore: RemoteStore {
    private let shelf: Shelf

    /// A store on `shelf`, which others may use concurrently.
    public init(_ shelf: Shelf) {
        self.shelf = shelf
    }

    public var properties: StoreProperties { StoreProperties() }

    public func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item {
        if identifier == .trash { throw .unsupported("a shelf has no trash") }
        return try await shelf.record(identifier).item
    }

    public func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage {
        guard try await item(folder).kind == .folder else { throw .cannotSynchronize("not a folder") }
        return ItemPage(items: await shelf.children(of: folder).map(\.item))
    }

    public func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor { anchor(await shelf.changes) }

    public func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        let newest = await shelf.changes
        guard let number = Int(String(decoding: anchor.bytes, as: UTF8.self)), (0...newest).contains(number) else {
            throw .syncAnchorExpired
        }
        let records = await shelf.records(after: number)
        return ChangeBatch(
            updated: records.filter { !$0.isDeleted }.map(\.item),
            deleted: records.filter(\.isDeleted).map(\.item.identifier), anchor: self.anchor(newest))
    }

    public func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item {
        let record = try await shelf.record(identifier)
        guard record.item.kind == .file else { throw .cannotSynchronize("only files have contents") }
        if let version, version != record.item.version.content { throw .versionNoLongerAvailable }
        let part = (range ?? 0..<record.item.size).clamped(to: 0..<record.item.size)
        let bytes = Array(record.content[Int(part.lowerBound)..<Int(part.upperBound)])
        try bytes.withUnsafeBufferPointer { bytes throws(RemoteStoreError) in
            try sink.write(UnsafeRawBufferPointer(bytes), at: part.lowerBound)
        }
        return record.item
    }

    public func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        let content = try contents?.allBytes()
        var item = Item(
            identifier: template.identifier, parent: template.parent, filename: template.filename,
            kind: template.kind, version: .beforeFirstSync, target: template.target)
        item.metadata.take(fields, from: template.metadata)
        do {
            let record = Shelf.Record(item: item, content: content ?? [], template: template.identifier)
            return StoreResult(item: try await shelf.insert(record).item)
        } catch .filenameCollision(let other?) where options.contains(.mayAlreadyExist) && other.kind == item.kind {
            let isEqual =
                switch item.kind {
                case .folder: true
                case .symlink: other.target == item.target
                default: try await shelf.record(other.identifier).content == content
                }
            guard isEqual else { throw .filenameCollision(other) }
            return StoreResult(item: other)
        }
    }

    public func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item? {
        await shelf.record(madeFrom: template.identifier)?.item
    }

    public func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        let content = try contents?.allBytes()
        let (old, new) = try await shelf.change(template.identifier) { record throws(RemoteStoreError) in
            if let content {
                guard record.item.version.content == base.content else { throw .versionConflict(record.item) }
                record.content = content
            }
            if changedFields.contains(.parent) { record.item.parent = template.parent }
            if changedFields.contains(.filename) { record.item.filename = template.filename }
            record.item.metadata.take(changedFields, from: template.metadata)
        }
        let isOther = content == nil && old.item.version.content != base.content
        return StoreResult(item: new.item, shouldFetchContent: isOther)
    }

    public func deleteItem(_ identifier: ItemIdentifier, base: ItemVersion) async throws(RemoteStoreError) {
        try await shelf.remove(identifier, base: base)
    }

    public func signals() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task {
            let changes = await shelf.listen()
            // For changes made before it started to listen.
            continuation.yield()
            for await _ in changes { continuation.yield() }
        }
        continuation.onTermination = { _ in task.cancel() }
        return stream
    }

    /// A shelf is in memory: there is nothing to flush.
    public func makeDurable() async throws(RemoteStoreError) {}

    public func importDidFinish() async {}

    private func anchor(_ change: Int) -> SyncAnchor { SyncAnchor("\(change)") }
}
