import ReplicaTestSupport

@testable import ReplicaModel
@testable import Threads

/// A store whose answers are set by a test, even against its promises; by default the memory store behind it answers.
final class HostileStore: StoreWrapper {
    /// Transforms a fetch of the store behind.
    typealias Fetch = @Sendable (Item, Range<Int64>?, any ContentSink) throws(RemoteStoreError) -> Item

    struct Answers: Sendable {
        var item: (@Sendable (Item) -> Item)?
        var page: (@Sendable (ItemPage, EnumerationPage?) -> ItemPage)?
        var batch: (@Sendable (ChangeBatch) -> ChangeBatch)?
        var fetch: Fetch?
        var create: (@Sendable (StoreResult) throws(RemoteStoreError) -> StoreResult)?
        var modify: (@Sendable (StoreResult) throws(RemoteStoreError) -> StoreResult)?
        var created: (@Sendable (Item?) -> Item?)?
    }

    let memory = MemoryStore()
    private let answers = Locked(Answers())

    var store: any RemoteStore { memory }

    /// Changes the store's answers from now on.
    func answer(_ change: (inout Answers) -> Void) { answers.withLock { change(&$0) } }

    /// Makes the store correct again.
    func repent() { answers.withLock { $0 = Answers() } }

    private var now: Answers { answers.withLock { $0 } }

    func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item {
        let item = try await memory.item(identifier)
        return now.item?(item) ?? item
    }

    func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage {
        let known = page.flatMap { $0.bytes.first == 0xFF ? nil : $0 }
        let answer = try await memory.enumerateItems(in: folder, from: known)
        return now.page?(answer, page) ?? answer
    }

    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        guard let change = now.batch else { return try await memory.enumerateChanges(from: anchor) }
        do {
            return change(try await memory.enumerateChanges(from: anchor))
        } catch {
            // An anchor chosen by the test.
            return change(ChangeBatch(updated: [], deleted: [], anchor: anchor))
        }
    }

    func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item {
        guard let fetch = now.fetch else {
            return try await memory.fetchContents(of: identifier, version: version, range: range, into: sink)
        }
        return try fetch(try await memory.item(identifier), range, sink)
    }

    func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        let result = try await memory.createItem(
            basedOn: template, fields: fields, contents: contents, options: options)
        return try now.create?(result) ?? result
    }

    func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item? {
        let item = try await memory.itemCreated(from: template)
        guard let change = now.created else { return item }
        return change(item)
    }

    func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        let result = try await memory.modifyItem(
            template, base: base, changedFields: changedFields, contents: contents)
        return try now.modify?(result) ?? result
    }
}
