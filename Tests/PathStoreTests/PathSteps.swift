import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

/// Common steps of the store's tests.
extension PathStore {
    func names(in folder: ItemIdentifier = .root) async throws -> [String] {
        try await all(in: folder).map(\.filename.description).sorted()
    }

    static func template(
        _ name: String, _ kind: ItemKind = .file, in parent: ItemIdentifier = .root, target: String? = nil
    ) -> ItemTemplate {
        ItemTemplate(
            identifier: ItemIdentifier("template of \(name)"), parent: parent, filename: FileName(name), kind: kind,
            target: target.map { Array($0.utf8) })
    }

    @discardableResult
    func make(
        _ template: ItemTemplate, _ text: String? = nil, options: CreateOptions = []
    ) async throws -> Item {
        guard template.kind == .file else {
            let result = try await createItem(basedOn: template, fields: .place, contents: nil, options: options)
            return try #require(result.item)
        }
        let bytes = Array((text ?? "").utf8)
        let result = try await ItemContents.with(bytes) { contents async throws(RemoteStoreError) in
            try await createItem(
                basedOn: template, fields: [.place, .contents], contents: contents, options: options)
        }
        return try #require(result.item)
    }

    @discardableResult
    func make(_ name: String, _ text: String = "content", in parent: ItemIdentifier = .root) async throws -> Item {
        try await make(Self.template(name, in: parent), text)
    }

    @discardableResult
    func makeFolder(_ name: String, in parent: ItemIdentifier = .root) async throws -> Item {
        try await make(Self.template(name, .folder, in: parent))
    }

    @discardableResult
    func write(_ text: String, to item: Item) async throws -> Item {
        let template = ItemTemplate(
            identifier: item.identifier, parent: item.parent, filename: item.filename, kind: .file)
        let result = try await ItemContents.with(Array(text.utf8)) { contents async throws(RemoteStoreError) in
            try await modifyItem(template, base: item.version, changedFields: .contents, contents: contents)
        }
        return try #require(result.item)
    }

    @discardableResult
    func move(_ item: Item, to name: String, in parent: ItemIdentifier? = nil) async throws -> Item {
        let template = ItemTemplate(
            identifier: item.identifier, parent: parent ?? item.parent, filename: FileName(name), kind: item.kind)
        let result = try await modifyItem(template, base: item.version, changedFields: .place, contents: nil)
        return try #require(result.item)
    }

    func text(_ item: Item) async throws -> String {
        let buffer = ContentBuffer()
        _ = try await fetchContents(of: item.identifier, version: nil, range: nil, into: buffer)
        return String(decoding: buffer.bytes, as: UTF8.self)
    }

    /// All changes after an anchor.
    func changes(
        from anchor: SyncAnchor
    ) async throws -> (updated: [ItemIdentifier: Item], deleted: Set<ItemIdentifier>) {
        var (updated, deleted): ([ItemIdentifier: Item], Set<ItemIdentifier>) = ([:], [])
        var anchor = anchor
        while true {
            let batch = try await enumerateChanges(from: anchor)
            for item in batch.updated { updated[item.identifier] = item }
            deleted.formUnion(batch.deleted)
            anchor = batch.anchor
            if !batch.moreComing { return (updated, deleted) }
        }
    }
}

extension MemoryPathStorage {
    func text(at path: String) -> String? {
        content(at: StoragePath(path)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Makes the next call of a method fail, before or after its execution.
    func fail(_ method: PathStorageCall.Method, afterIt: Bool) {
        let isLeft = Locked(true)
        let hook: Hook = { (call) async throws(PathStorageError) in
            guard call.method == method,
                isLeft.withLock({ isLeft in
                    defer { isLeft = false }
                    return isLeft
                })
            else { return }
            throw .unreachable("the line is cut")
        }
        if afterIt { after = hook } else { before = hook }
    }

    /// Lets another client act before the next call of a method.
    func race(_ method: PathStorageCall.Method, _ action: @escaping @Sendable (MemoryPathStorage) -> Void) {
        let isLeft = Locked(true)
        race = { [unowned self] call in
            guard call.method == method,
                isLeft.withLock({ isLeft in
                    defer { isLeft = false }
                    return isLeft
                })
            else { return }
            action(self)
        }
    }

    var names: [String] { entries.keys.map(\.description).sorted() }
}

/// Expects `body` to end with an error of this code.
func expectFailure(
    _ code: String, _ body: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation
) async {
    let error = await #expect(throws: RemoteStoreError.self, sourceLocation: sourceLocation) { try await body() }
    #expect(error?.code == code, sourceLocation: sourceLocation)
}
