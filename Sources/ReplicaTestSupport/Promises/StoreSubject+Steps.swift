import ReplicaModel

/// The steps of promises.
extension StoreSubject {
    func expect(_ isKept: Bool, _ finding: @autoclosure () -> String) throws {
        if !isKept { throw BrokenPromise(finding()) }
    }

    /// The error of `body`; success breaks the promise.
    func failure(_ action: String, _ body: () async throws -> Void) async throws -> RemoteStoreError {
        do {
            try await body()
        } catch let error as RemoteStoreError {
            return error
        }
        throw BrokenPromise("\(action) should have failed")
    }

    /// Polls until the answer is yes, or the limit is reached.
    func wait(for goal: String, _ isReached: () async throws -> Bool) async throws {
        let end = ContinuousClock.now + limit
        while !(try await isReached()) {
            if ContinuousClock.now > end { throw BrokenPromise("\(goal): not within \(limit)") }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    func template(
        _ name: String, _ kind: ItemKind = .file, in parent: ItemIdentifier = .root, target: String? = nil,
        identifier: String? = nil
    ) -> ItemTemplate {
        ItemTemplate(
            identifier: ItemIdentifier(identifier ?? "template of \(name) in \(parent)"), parent: parent,
            filename: FileName(name), kind: kind, target: target.map { Array($0.utf8) })
    }

    /// Creates an item; `content` is given exactly for files (statement 86).
    func create(
        _ template: ItemTemplate, _ content: [UInt8]? = nil, fields: ItemFields = .place, options: CreateOptions = []
    ) async throws -> StoreResult {
        guard let content else {
            return try await store.createItem(basedOn: template, fields: fields, contents: nil, options: options)
        }
        return try await ItemContents.with(content) { contents async throws(RemoteStoreError) in
            try await store.createItem(
                basedOn: template, fields: fields.union(.contents), contents: contents, options: options)
        }
    }

    func file(_ name: String, _ text: String = "content", in parent: ItemIdentifier = .root) async throws -> Item {
        try made(await create(template(name, in: parent), Array(text.utf8)))
    }

    func folder(_ name: String, in parent: ItemIdentifier = .root) async throws -> Item {
        try made(await create(template(name, .folder, in: parent)))
    }

    /// The item of an answer; these promises never send anything that a store may refuse to keep.
    func made(_ result: StoreResult) throws -> Item {
        guard let item = result.item else { throw BrokenPromise("the store answered no item") }
        return item
    }

    func modify(
        _ item: Item, _ fields: ItemFields, _ content: [UInt8]? = nil,
        _ change: (inout ItemTemplate) -> Void = { _ in }
    ) async throws -> StoreResult {
        var template = ItemTemplate(
            identifier: item.identifier, parent: item.parent, filename: item.filename, kind: item.kind,
            target: item.target, metadata: item.metadata)
        change(&template)
        let sent = template
        guard let content else {
            return try await store.modifyItem(
                sent, base: item.version, changedFields: fields, contents: nil)
        }
        return try await ItemContents.with(content) { contents async throws(RemoteStoreError) in
            try await store.modifyItem(
                sent, base: item.version, changedFields: fields.union(.contents), contents: contents)
        }
    }

    /// All items of a folder, over all pages.
    func list(_ folder: ItemIdentifier = .root) async throws -> [Item] {
        var items: [Item] = []
        var page: EnumerationPage?
        repeat {
            let answer = try await store.enumerateItems(in: folder, from: page)
            items += answer.items
            try expect(answer.next == nil || answer.next != page, "a page refers to itself")
            try expect((answer.next?.bytes.count ?? 0) <= 500, "a page is longer than 500 bytes")
            page = answer.next
        } while page != nil
        return items
    }

    func names(_ folder: ItemIdentifier = .root) async throws -> [String] {
        try await list(folder).map(\.filename.description).sorted()
    }

    func fetch(_ item: Item, version: String? = nil, range: Range<Int64>? = nil) async throws -> [UInt8] {
        let buffer = ContentBuffer()
        let answer = try await store.fetchContents(
            of: item.identifier, version: version, range: range, into: buffer)
        try expect(answer.identifier == item.identifier, "the fetch answers another item")
        return buffer.bytes
    }

    func expectContent(_ item: Item, _ path: String, _ wanted: [UInt8]) async throws {
        try expect(try await fetch(item) == wanted, "\(path): the store gives other bytes than were sent")
        try expect(try await other.content(at: path) == wanted, "\(path): others see other bytes than were sent")
    }

    /// A store's answer about an existing item.
    func refreshed(_ item: Item) async throws -> Item { try await store.item(item.identifier) }
}
