package import ReplicaModel
import Threads

/// A store that repeats its calls after failures, like the engine: a create is looked up first.
package struct RetryingStore: Sendable {
    let store: any RemoteStore
    /// The maximum number of attempts of a call, and the pause between them.
    private static let (most, pause) = (20, Duration.milliseconds(20))

    package init(_ store: any RemoteStore) { self.store = store }

    package func again<Value: Sendable>(_ action: String, _ body: () async throws -> Value) async throws -> Value {
        var failures: [RemoteStoreError] = []
        while failures.count < Self.most {
            do { return try await body() } catch let error as RemoteStoreError {
                failures.append(error)
                switch error {
                case .serverUnreachable, .busy, .itemUnavailable, .malformedAnswer:
                    try await Task.sleep(for: Self.pause)
                default: throw BrokenPromise("\(action): \(failures)")
                }
            }
        }
        throw BrokenPromise("\(action): it never comes back: \(failures.suffix(2))")
    }

    package func create(
        _ name: String, _ kind: ItemKind, in parent: ItemIdentifier, _ content: [UInt8]?, target: String? = nil
    ) async throws -> Item {
        let template = ItemTemplate(
            identifier: ItemIdentifier("template of \(name) in \(parent)"), parent: parent, filename: FileName(name),
            kind: kind, target: target.map { Array($0.utf8) })
        let isFirst = Locked(true)
        return try await again("create \(name)") {
            if !isFirst.withLock({ $0 }), let made = try await store.itemCreated(from: template) { return made }
            isFirst.withLock { $0 = false }
            let result = try await sending(content) { contents async throws(RemoteStoreError) in
                try await store.createItem(
                    basedOn: template, fields: content == nil ? .place : [.place, .contents], contents: contents,
                    options: [])
            }
            guard let item = result.item else { throw BrokenPromise("create \(name) answers no item") }
            return item
        }
    }

    package func modify(
        _ item: Item, _ fields: ItemFields, _ content: [UInt8]? = nil, _ change: (inout ItemTemplate) -> Void = { _ in }
    ) async throws -> Item {
        var template = ItemTemplate(
            identifier: item.identifier, parent: item.parent, filename: item.filename, kind: item.kind)
        change(&template)
        let sent = template
        return try await again("change \(item.filename)") {
            let result = try await sending(content) { contents async throws(RemoteStoreError) in
                try await store.modifyItem(sent, base: item.version, changedFields: fields, contents: contents)
            }
            guard let item = result.item else { throw BrokenPromise("a change answers no item") }
            return item
        }
    }

    package func delete(_ item: Item) async throws {
        try await again("delete \(item.filename)") { try await store.deleteItem(item.identifier, base: item.version) }
    }

    package func read(_ item: Item, _ range: Range<Int64>? = nil) async throws -> [UInt8] {
        try await again("read \(item.filename)") {
            let buffer = ContentBuffer()
            _ = try await store.fetchContents(
                of: item.identifier, version: item.version.content, range: range, into: buffer)
            return buffer.bytes
        }
    }

    /// All entries of a folder, over all pages.
    package func list(_ folder: ItemIdentifier) async throws -> [Item] {
        try await again("list") {
            var (items, page) = ([Item](), EnumerationPage?.none)
            repeat {
                let answer = try await store.enumerateItems(in: folder, from: page)
                items += answer.items
                page = answer.next
            } while page != nil
            return items
        }
    }

    private func sending(
        _ content: [UInt8]?, _ body: (ItemContents?) async throws(RemoteStoreError) -> StoreResult
    ) async throws -> StoreResult {
        guard let content else { return try await body(nil) }
        return try await ItemContents.with(content) { contents async throws(RemoteStoreError) in
            try await body(contents)
        }
    }
}
