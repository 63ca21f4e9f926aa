import PathStore
package import ReplicaModel

/// The store of a process that speaks the level `item`.
package final class ProcessItemStore: RemoteStore {
    package let properties: StoreProperties
    private let caller: StoreCaller

    init(_ caller: StoreCaller, _ properties: StoreProperties) {
        self.caller = caller
        self.properties = properties
    }

    /// Why the store can't be used now, in one line, as far as it is known.
    package var trouble: String? { caller.trouble }

    /// Releases the process; every later call is ``RemoteStoreError/serverUnreachable``.
    package func close() async { await caller.close() }

    package func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item {
        let result: ItemResult = try await call("item", ItemCallArguments(id: identifier), identifier)
        return try present(result.item)
    }

    package func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage {
        var arguments = ItemCallArguments(folder: folder)
        arguments.page = page.map { String(decoding: $0.bytes, as: UTF8.self) }
        let result: ItemPageResult = try await call("enumerateItems", arguments, folder)
        let next = result.next.flatMap { $0.isEmpty ? nil : EnumerationPage(bytes: Array($0.utf8)) }
        if let next, next == page { throw .malformedAnswer("a page refers to itself") }
        return ItemPage(items: result.items.map(\.item), next: next)
    }

    package func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor {
        let result: AnchorResult = try await call("currentAnchor", ItemCallArguments(), .root)
        return SyncAnchor(result.anchor)
    }

    package func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        guard let text = String(validating: anchor.bytes, as: UTF8.self) else { throw .syncAnchorExpired }
        let result: ChangesResult = try await call("enumerateChanges", ItemCallArguments(anchor: text), .root)
        return ChangeBatch(
            updated: result.updated.map(\.item), deleted: result.deleted, anchor: SyncAnchor(result.anchor),
            moreComing: result.more ?? false)
    }

    package func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item {
        let range = properties.fetchesRanges ? range : nil
        var arguments = ItemCallArguments(id: identifier, version: version, range: range)
        let fetch = StoreCaller.Fetch(sink: sink, range: range)
        let result: ItemResult
        do throws(CallFailure) {
            result = try await caller.call("fetchContents", fetch: fetch, size: \.item?.item.size) { file in
                arguments.file = file
                return arguments
            }
        } catch {
            throw RemoteStoreError(error, identifier)
        }
        return try present(result.item)
    }

    package func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        var arguments = ItemCallArguments(template: template, fields: fields)
        arguments.options = options
        return try await send("createItem", arguments, contents, template.parent)
    }

    package func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item? {
        let result: ItemResult = try await call(
            "itemCreated", ItemCallArguments(template: template), template.identifier)
        return result.item?.item
    }

    package func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        let arguments = ItemCallArguments(template: template, base: base, fields: changedFields)
        return try await send("modifyItem", arguments, contents, template.identifier)
    }

    package func deleteItem(_ identifier: ItemIdentifier, base: ItemVersion) async throws(RemoteStoreError) {
        let _: NoResult = try await call("deleteItem", ItemCallArguments(id: identifier, base: base), identifier)
    }

    package func signals() -> AsyncStream<Void> {
        let stream = caller.signals()
        return AsyncStream { continuation in
            let task = Task {
                for await _ in stream { continuation.yield() }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    package func makeDurable() async throws(RemoteStoreError) {
        do throws(RemoteStoreError) {
            let _: NoResult = try await call("makeDurable", ItemCallArguments(), .root)
        } catch .unsupported {
            return
        }
    }

    package func usage() async throws(RemoteStoreError) -> StoreUsage? {
        guard caller.hello.tellsUsage else { return nil }
        do throws(RemoteStoreError) {
            let figures: SpaceFigures = try await call("usage", ItemCallArguments(), .root)
            return figures.usage
        } catch .unsupported {
            return nil
        }
    }

    package func importDidFinish() async {
        do throws(RemoteStoreError) {
            let _: NoResult = try await call("importDidFinish", ItemCallArguments(), .root)
        } catch {
            return  // It is only a hint, so errors are ignored.
        }
    }

    private func present(_ item: WireItem?) throws(RemoteStoreError) -> Item {
        guard let item else { throw .malformedAnswer("it contains no item") }
        return item.item
    }

    private func send(
        _ name: String, _ arguments: ItemCallArguments, _ contents: ItemContents?, _ identifier: ItemIdentifier
    ) async throws(RemoteStoreError) -> StoreResult {
        var arguments = arguments
        arguments.size = contents?.size
        try check(arguments)
        let result: ItemResult
        do throws(CallFailure) {
            result = try await caller.call(name, contents: contents) { file in
                arguments.file = file
                return arguments
            }
        } catch {
            throw RemoteStoreError(error, identifier)
        }
        return StoreResult(
            item: result.item?.item, stillPending: result.pending?.fields ?? [],
            shouldFetchContent: result.fetch ?? false)
    }

    private func call<Result: Decodable & Sendable>(
        _ name: String, _ arguments: ItemCallArguments, _ identifier: ItemIdentifier
    ) async throws(RemoteStoreError) -> Result {
        try check(arguments)
        do throws(CallFailure) {
            return try await caller.call(name) { _ in arguments }
        } catch {
            throw RemoteStoreError(error, identifier)
        }
    }

    private func check(_ arguments: ItemCallArguments) throws(RemoteStoreError) {
        guard caller.hello.takesAnyNames || arguments.isUTF8 else {
            throw .cannotSynchronize("the store accepts only UTF-8 names")
        }
    }
}
