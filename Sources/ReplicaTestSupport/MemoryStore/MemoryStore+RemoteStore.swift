public import ReplicaModel
import Threads

extension MemoryStore {
    public func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item {
        try await serve(StoreCall(.item, identifier)) { tree throws(RemoteStoreError) in
            try tree.node(identifier).item
        }
    }

    public func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage {
        let limit = pageSize
        return try await serve(StoreCall(.enumerateItems, folder)) { tree throws(RemoteStoreError) in
            let start = page.map { FileName(bytes: $0.bytes) }
            let names = try tree.folder(folder).keys.filter { name in start.map { name > $0 } ?? true }.sorted()
            let items = names.prefix(limit).compactMap { tree.children[folder]?[$0] }.compactMap {
                tree.nodes[$0]?.item
            }
            let next = names.count > limit ? EnumerationPage(bytes: names[limit - 1].bytes) : nil
            return ItemPage(items: items, next: next)
        }
    }

    public func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor {
        try await serve(StoreCall(.currentAnchor)) { $0.feed.anchor }
    }

    public func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        let limit = batchSize
        return try await serve(StoreCall(.enumerateChanges)) { tree throws(RemoteStoreError) in
            guard tree.properties.hasChangeFeed else { throw .syncAnchorExpired }
            let changes = try tree.feed.changes(after: anchor, limit: limit)
            var batch = ChangeBatch(
                updated: changes.identifiers.compactMap { tree.nodes[$0]?.item },
                deleted: changes.identifiers.filter { tree.nodes[$0] == nil }, anchor: changes.anchor,
                moreComing: changes.moreComing)
            batch.rewritten = tree.rewritten.intersection(batch.updated.map(\.identifier))
            tree.rewritten.subtract(batch.rewritten)
            return batch
        }
    }

    public func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item {
        let call = StoreCall.fetch(identifier, range)
        let node = try await serve(call) { tree throws(RemoteStoreError) -> MemoryTree.Node in
            let node = try tree.node(identifier)
            guard node.item.kind == .file else { throw .cannotSynchronize("only files have contents") }
            if let version, version != node.item.version.content { throw .versionNoLongerAvailable }
            return node
        }
        let size = Int64(node.content.count)
        let wanted = properties.fetchesRanges ? (range ?? 0..<size).clamped(to: 0..<size) : 0..<size
        for start in stride(from: wanted.lowerBound, to: wanted.upperBound, by: 65_536) {
            let chunk = node.content[Int(start)..<Int(min(start + 65_536, wanted.upperBound))]
            try chunk.withUnsafeBufferPointer { bytes throws(RemoteStoreError) in
                try sink.write(UnsafeRawBufferPointer(bytes), at: start)
            }
        }
        return node.item
    }

    public func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        let bytes = try contents?.allBytes()
        return try await serve(.create(template, fields, contents, options)) { tree throws(RemoteStoreError) in
            try tree.create(template, fields, bytes, options)
        }
    }

    public func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item? {
        try await serve(.itemCreated(template)) { tree in
            guard tree.properties.recognizesCreates else { return nil }
            return tree.templates[template.identifier].flatMap { tree.nodes[$0]?.item }
        }
    }

    public func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        let bytes = try contents?.allBytes()
        let call = StoreCall.modify(template, base, changedFields, contents)
        return try await serve(call) { tree throws(RemoteStoreError) in
            try tree.modify(template, base, changedFields, bytes)
        }
    }

    public func deleteItem(
        _ identifier: ItemIdentifier, base: ItemVersion
    ) async throws(RemoteStoreError) {
        try await serve(.delete(identifier, base)) { tree throws(RemoteStoreError) in
            try tree.delete(identifier, base)
        }
    }

    public func makeDurable() async throws(RemoteStoreError) {}

    public func usage() async throws(RemoteStoreError) -> StoreUsage? {
        let space = space
        return try await serve(StoreCall(.usage)) { _ in space }
    }

    public func importDidFinish() async {
        controls.withLock { $0.calls.append(StoreCall(.importDidFinish)) }
    }
}
