public import ReplicaModel

/// Another client that is a second store on the same storage, for storages that no other program can access.
public struct SecondStore: OtherClient {
    private let store: any RemoteStore

    /// Uses `store`, which shares only the storage with the store under test.
    public init(_ store: any RemoteStore) {
        self.store = store
    }

    public func write(_ content: [UInt8], to path: String) async throws {
        let (parent, name) = try await place(path)
        let old = try await child(name, of: parent)
        let template = ItemTemplate(
            identifier: old?.identifier ?? ItemIdentifier("second \(path) \(content.count)"), parent: parent,
            filename: name, kind: .file)
        try await ItemContents.with(content) { contents async throws(RemoteStoreError) in
            if let old {
                _ = try await store.modifyItem(
                    template, base: old.version, changedFields: .contents, contents: contents)
            } else {
                _ = try await store.createItem(
                    basedOn: template, fields: [.place, .contents], contents: contents, options: [])
            }
        }
    }

    public func makeFolder(_ path: String) async throws {
        let (parent, name) = try await place(path)
        let template = ItemTemplate(
            identifier: ItemIdentifier("second \(path)"), parent: parent, filename: name, kind: .folder)
        _ = try await store.createItem(basedOn: template, fields: .place, contents: nil, options: [])
    }

    public func move(_ path: String, to destination: String) async throws {
        let item = try await existing(path)
        let (parent, name) = try await place(destination)
        let template = ItemTemplate(
            identifier: item.identifier, parent: parent, filename: name, kind: item.kind)
        _ = try await store.modifyItem(
            template, base: item.version, changedFields: .place, contents: nil)
    }

    public func delete(_ path: String) async throws {
        try await delete(try await existing(path))
    }

    /// From the bottom up: stores only delete empty folders.
    private func delete(_ item: Item) async throws {
        if item.kind == .folder {
            var page: EnumerationPage?
            var children: [Item] = []
            repeat {
                let answer = try await store.enumerateItems(in: item.identifier, from: page)
                children += answer.items
                page = answer.next
            } while page != nil
            for child in children { try await delete(child) }
        }
        try await store.deleteItem(item.identifier, base: item.version)
    }

    public func content(at path: String) async throws -> [UInt8]? {
        let (parent, name) = try await place(path)
        guard let item = try await child(name, of: parent), item.kind == .file else { return nil }
        let buffer = ContentBuffer()
        _ = try await store.fetchContents(of: item.identifier, version: nil, range: nil, into: buffer)
        return buffer.bytes
    }

    private func place(_ path: String) async throws -> (ItemIdentifier, FileName) {
        var names = path.split(separator: "/").map { FileName(String($0)) }
        let last = names.removeLast()
        var folder = ItemIdentifier.root
        for name in names {
            guard let next = try await child(name, of: folder) else { throw BrokenPromise("no folder \(name)") }
            folder = next.identifier
        }
        return (folder, last)
    }

    private func existing(_ path: String) async throws -> Item {
        let (parent, name) = try await place(path)
        guard let item = try await child(name, of: parent) else { throw BrokenPromise("nothing at \(path)") }
        return item
    }

    private func child(_ name: FileName, of folder: ItemIdentifier) async throws -> Item? {
        var page: EnumerationPage?
        repeat {
            let answer = try await store.enumerateItems(in: folder, from: page)
            if let item = answer.items.first(where: { $0.filename == name }) { return item }
            page = answer.next
        } while page != nil
        return nil
    }
}
