/// Validates the answers of a store against the promises of ``RemoteStore``. Each kind of answer is checked in one
/// place, because a store can be a third party's program.
///
/// An invalid item in a page or a batch is left out and reported; an invalid answer about a single item is a
/// ``RemoteStoreError/malformedAnswer(_:)``. Neither is evidence that an item is gone.
struct CheckedStore: RemoteStore {
    let store: any RemoteStore
    var privileges = Privileges()
    /// Called for each item that was left out, from any thread.
    let leftOut: @Sendable (LeftOut) -> Void

    /// An invalid item.
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
        guard item.identifier == identifier else { throw .malformedAnswer("it describes another item") }
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
            guard isTaken(item, item.parent == folder ? nil : "it was listed in a folder that is not its parent") else {
                return false
            }
            return isTaken(item, seen.insert(item.identifier).inserted ? nil : "it is listed twice")
        }
        return ItemPage(items: items.map(privileges.taken), next: answer.next)
    }

    func recognize(_ anchor: SyncAnchor) async throws(RemoteStoreError) { try await store.recognize(anchor) }

    func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor { try checked(try await store.currentAnchor()) }

    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        var batch = try await store.enumerateChanges(from: anchor)
        _ = try checked(batch.anchor)
        if batch.moreComing, batch.anchor == anchor {
            throw .malformedAnswer("more changes after the same anchor")
        }
        let inRing = rings(in: batch.updated)
        batch.updated = batch.updated.filter {
            isTaken($0, inRing.contains($0.identifier) ? "it is its own ancestor" : nil)
        }
        batch.updated = batch.updated.map(privileges.taken)
        batch.leftOut = batch.leftOut?.checked
        // An item that is reported both as updated and as deleted is not certainly deleted.
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
            throw .malformedAnswer("the content belongs to another item")
        }
        if let version, item.version.content != version { throw .malformedAnswer("the content has another version") }
        guard item.size >= 0, item.size <= Item.largestSize else { throw .malformedAnswer("the size is out of range") }
        try checked.checkComplete(range, ofSize: item.size)
        return privileges.taken(item)
    }

    func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        try template.checkName(fields: .filename, properties)
        // Fields that the store can't keep stay local.
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
        try template.checkName(fields: changedFields, properties)
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

    func pollEverything() { store.pollEverything() }

    func signals() -> AsyncStream<Void> { store.signals() }

    func makeDurable() async throws(RemoteStoreError) { try await store.makeDurable() }

    func usage() async throws(RemoteStoreError) -> StoreUsage? { try await store.usage() }

    func importDidFinish() async { await store.importDidFinish() }
}

extension CheckedStore {
    /// The maximum length of an anchor or a page, in bytes.
    private static let longestToken = 500

    /// Runs a fetch whose sink rejects everything once the task is cancelled.
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

    /// Whether an item is valid; reports it if not.
    private func isTaken(_ item: Item, _ fault: String?) -> Bool {
        guard let fault = item.fault ?? fault else { return true }
        leftOut(LeftOut(identifier: item.identifier, name: item.filename, fault: fault))
        return false
    }

    /// The items that, according to the batch, are their own ancestors.
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

extension LeftOutItems {
    /// The maximum number that is believed.
    private static let most = 1_000_000_000

    /// A plausible number, and an example that fits into a line; nil if there are none.
    fileprivate var checked: LeftOutItems? {
        count < 1 ? nil : LeftOutItems(count: min(count, Self.most), example: FileName(example).shortened)
    }
}

extension RemoteStoreError {
    /// The error, without its attached item if that is invalid.
    fileprivate var withoutFaults: RemoteStoreError {
        switch self {
        case .filenameCollision(let item?) where item.fault != nil: .filenameCollision(nil)
        case .versionConflict(let item?) where item.fault != nil: .versionConflict(nil)
        case .deletionRejected(let item?) where item.fault != nil: .deletionRejected(nil)
        default: self
        }
    }
}
