/// A store whose answers are held to what ``RemoteStore`` promises, each in the one place where it comes in: what is behind
/// may be of anybody's making.
///
/// An item that cannot be one is left out of a page or a batch, and told of; an answer about a single item that cannot
/// be one is ``RemoteStoreError/malformedAnswer(_:)``. Neither proves that anything is gone.
struct CheckedStore: RemoteStore {
    let store: any RemoteStore
    var privileges = Privileges()
    /// Told of each item that was left out, from any thread.
    let leftOut: @Sendable (LeftOut) -> Void

    /// An item that cannot be one.
    struct LeftOut: Sendable {
        var identifier: ItemIdentifier
        var name: FileName
        /// Why, in one line.
        var fault: String
    }

    var properties: StoreProperties { store.properties }

    var executor: (any TaskExecutor)? { store.executor }

    func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item {
        let item = try await store.item(identifier)
        guard item.identifier == identifier else { throw .malformedAnswer("it is of another item") }
        if identifier == .root { return privileges.taken(item) }
        if let fault = item.fault { throw .malformedAnswer(fault) }
        return privileges.taken(item)
    }

    func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage {
        let answer = try await store.enumerateItems(in: folder, from: page)
        if let next = answer.next, next.bytes.count > Self.longestToken { throw .malformedAnswer("a page is too long") }
        var seen: Set<ItemIdentifier> = []
        let items = answer.items.filter { item in
            guard isTaken(item, item.parent == folder ? nil : "it is listed in another folder") else { return false }
            return isTaken(item, seen.insert(item.identifier).inserted ? nil : "it is listed twice")
        }
        return ItemPage(items: items.map(privileges.taken), next: answer.next)
    }

    func recognize(_ anchor: SyncAnchor) async throws(RemoteStoreError) { try await store.recognize(anchor) }

    func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor { try checked(try await store.currentAnchor()) }

    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        var batch = try await store.enumerateChanges(from: anchor)
        _ = try checked(batch.anchor)
        if batch.moreComing, batch.anchor == anchor { throw .malformedAnswer("more is to come after the same anchor") }
        let inRing = rings(in: batch.updated)
        batch.updated = batch.updated.filter {
            isTaken($0, inRing.contains($0.identifier) ? "it is in itself" : nil)
        }
        batch.updated = batch.updated.map(privileges.taken)
        // What is there and gone at once is not positively gone.
        let updated = Set(batch.updated.map(\.identifier))
        batch.deleted = batch.deleted.filter { $0.fault == nil && !updated.contains($0) }
        return batch
    }

    func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item {
        let checked = CheckedSink(sink)
        let item: Item
        do throws(RemoteStoreError) {
            item = try await endable(checked) { () async throws(RemoteStoreError) in
                try await store.fetchContents(of: identifier, version: version, range: range, into: checked)
            }
        } catch {
            throw checked.fault.map(RemoteStoreError.malformedAnswer) ?? error
        }
        if let fault = checked.fault { throw .malformedAnswer(fault) }
        guard item.identifier == identifier, item.kind == .file else {
            throw .malformedAnswer("the content is another item's")
        }
        if let version, item.version.content != version { throw .malformedAnswer("the content is of another version") }
        guard item.size >= 0, item.size <= Item.largestSize else { throw .malformedAnswer("the size cannot be one") }
        let whole = 0..<item.size
        guard checked.missing(in: range?.clamped(to: whole) ?? whole).isEmpty else {
            throw .malformedAnswer("the content ends too early")
        }
        return privileges.taken(item)
    }

    func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        try checkName(template, fields: .filename)
        // What the store can't keep stays here.
        if template.kind == .symlink, !properties.keepsSymlinks { throw .excludedFromSync }
        return try await result { () async throws(RemoteStoreError) in
            try await store.createItem(basedOn: template, fields: fields, contents: contents, options: options)
        }
    }

    func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item? {
        let item = try await store.itemCreated(from: template)
        if let fault = item?.fault { throw .malformedAnswer(fault) }
        return item.map(privileges.taken)
    }

    func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        try checkName(template, fields: changedFields)
        return try await result { () async throws(RemoteStoreError) in
            try await store.modifyItem(
                template, base: base, changedFields: changedFields, contents: contents)
        }
    }

    func deleteItem(
        _ identifier: ItemIdentifier, base: ItemVersion
    ) async throws(RemoteStoreError) {
        do throws(RemoteStoreError) {
            try await store.deleteItem(identifier, base: base)
        } catch {
            throw privileges.taken(error.withoutFaults)
        }
    }

    /// A name that the store says it can't have is not sent.
    private func checkName(_ template: ItemTemplate, fields: ItemFields) throws(RemoteStoreError) {
        let longest = properties.longestName
        guard fields.contains(.filename), template.filename.bytes.count > longest else { return }
        throw .cannotSynchronize("the store takes no name of more than \(longest) bytes")
    }

    func signals() -> AsyncStream<Void> { store.signals() }

    func makeDurable() async throws(RemoteStoreError) { try await store.makeDurable() }

    func importDidFinish() async { await store.importDidFinish() }
}

extension CheckedStore {
    /// Bytes of an anchor or a page, at most.
    private static let longestToken = 500

    /// Runs a fetch whose sink takes no more once the task is cancelled.
    private func endable(
        _ sink: CheckedSink, _ fetch: () async throws(RemoteStoreError) -> Item
    ) async throws(RemoteStoreError) -> Item {
        let outcome = await withTaskCancellationHandler { () async -> Result<Item, RemoteStoreError> in
            do throws(RemoteStoreError) { return .success(try await fetch()) } catch { return .failure(error) }
        } onCancel: {
            sink.end()
        }
        return try outcome.get()
    }

    private func result(
        _ call: () async throws(RemoteStoreError) -> StoreResult
    ) async throws(RemoteStoreError) -> StoreResult {
        var result: StoreResult
        do throws(RemoteStoreError) {
            result = try await call()
        } catch {
            throw privileges.taken(error.withoutFaults)
        }
        if let fault = result.item?.fault { throw .malformedAnswer(fault) }
        result.item = result.item.map(privileges.taken)
        return result
    }

    private func checked(_ anchor: SyncAnchor) throws(RemoteStoreError) -> SyncAnchor {
        guard anchor.bytes.count <= Self.longestToken else { throw .malformedAnswer("an anchor is too long") }
        return anchor
    }

    /// Whether an item can be one; tells of it when it cannot.
    private func isTaken(_ item: Item, _ fault: String?) -> Bool {
        guard let fault = item.fault ?? fault else { return true }
        leftOut(LeftOut(identifier: item.identifier, name: item.filename, fault: fault))
        return false
    }

    /// The items of a batch that are, by what the batch says, in themselves.
    private func rings(in items: [Item]) -> Set<ItemIdentifier> {
        let folders = items.filter { $0.kind == .folder }
        let parents = Dictionary(folders.map { ($0.identifier, $0.parent) }, uniquingKeysWith: { $1 })
        var found: Set<ItemIdentifier> = []
        var isDone: Set<ItemIdentifier> = []
        for start in parents.keys where !isDone.contains(start) {
            var path: [ItemIdentifier] = []
            var here: ItemIdentifier? = start
            while let folder = here, parents[folder] != nil, isDone.insert(folder).inserted {
                path.append(folder)
                here = parents[folder]
            }
            if let here, let first = path.firstIndex(of: here) { found.formUnion(path[first...]) }
        }
        return found
    }
}

extension RemoteStoreError {
    /// The error without an attached item that cannot be one.
    fileprivate var withoutFaults: RemoteStoreError {
        switch self {
        case .filenameCollision(let item?) where item.fault != nil: .filenameCollision(nil)
        case .versionConflict(let item?) where item.fault != nil: .versionConflict(nil)
        case .deletionRejected(let item?) where item.fault != nil: .deletionRejected(nil)
        default: self
        }
    }
}
