import ReplicaModel
import ReplicaTestSupport

/// A memory store that breaks one promise on purpose, to show that the suite detects it.
struct Saboteur: RemoteStore {
    enum Fault: String, CaseIterable, Sendable {
        case endsListingsEarly, repeatsItems, listsUnknownFoldersAsEmpty, doubtsUnknownItems, givesForeignParents
        case echoesTemplateIdentifiers, replacesOnCollision, adoptsAnyContent, adoptsWithoutContents
        case losesLastByte, makesEmptyFileFirst, tellsNoProgress, namesItemForParent
        case forgetsTemplates, findsByNameAlone
        case ignoresBase, keepsContentVersions, renamesSilentlyNot, appliesAllMetadata, hidesPending
        case deletesChangedFiles, deletesFullFolders, failsOnUnknownDeletes, deletesOnlyOnPaper
        case ignoresRangeOffsets, fetchesAnyVersion, swallowsRefusals
        case tellsMovesAsDeletes, hidesDeletes, trustsAnyAnchor, dropsLaterBatches, neverSignals
        case forgetsAllWhenReopened, forgetsTemplatesWhenReopened, trustsOldAnchorsWhenReopened
    }

    let store: MemoryStore
    let fault: Fault
    var isReopened = false

    var properties: StoreProperties { store.properties }

    func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item {
        do {
            return try await store.item(identifier)
        } catch {
            throw fault == .doubtsUnknownItems ? .serverUnreachable : error
        }
    }

    func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage {
        var answer: ItemPage
        do {
            answer = try await store.enumerateItems(in: folder, from: page)
        } catch {
            guard fault == .listsUnknownFoldersAsEmpty else { throw error }
            return ItemPage(items: [])
        }
        switch fault {
        case .endsListingsEarly: answer.next = nil
        case .repeatsItems: answer.items += answer.items.suffix(1)
        case .givesForeignParents: for index in answer.items.indices { answer.items[index].parent = .root }
        default: break
        }
        return answer
    }

    func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor { try await store.currentAnchor() }

    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        if fault == .trustsOldAnchorsWhenReopened, isReopened {
            return ChangeBatch(updated: [], deleted: [], anchor: anchor)
        }
        var batch: ChangeBatch
        do {
            batch = try await store.enumerateChanges(from: anchor)
        } catch {
            guard fault == .trustsAnyAnchor else { throw error }
            return ChangeBatch(updated: [], deleted: [], anchor: anchor)
        }
        switch fault {
        case .tellsMovesAsDeletes: batch.deleted += batch.updated.map(\.identifier)
        case .hidesDeletes: batch.deleted = []
        case .dropsLaterBatches where batch.moreComing:
            batch.anchor = try await store.currentAnchor()
            batch.moreComing = false
        default: break
        }
        return batch
    }

    func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item {
        let buffer = ContentBuffer()
        let item = try await store.fetchContents(
            of: identifier, version: fault == .fetchesAnyVersion ? nil : version, range: range, into: buffer)
        let start = range?.lowerBound ?? 0
        var bytes = Array(buffer.bytes.dropFirst(Int(start)))
        if fault == .losesLastByte, !bytes.isEmpty { bytes.removeLast() }
        do {
            try bytes.withUnsafeBufferPointer { bytes throws(RemoteStoreError) in
                try sink.write(UnsafeRawBufferPointer(bytes), at: fault == .ignoresRangeOffsets ? 0 : start)
            }
        } catch  where fault == .swallowsRefusals {
            return item
        }
        return item
    }

    func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        try await create(template, fields, contents, options)
    }

    func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item? {
        switch fault {
        case .forgetsTemplates: nil
        case .forgetsTemplatesWhenReopened where isReopened: nil
        case .findsByNameAlone: store.item(at: template.filename.description)
        default: try await store.itemCreated(from: template)
        }
    }

    func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        try await modify(template, base, changedFields, contents)
    }

    func deleteItem(
        _ identifier: ItemIdentifier, base: ItemVersion
    ) async throws(RemoteStoreError) {
        var base = base
        switch fault {
        case .deletesOnlyOnPaper: return
        case .deletesFullFolders: return store.delete(identifier)
        case .failsOnUnknownDeletes: _ = try await store.item(identifier)
        case .deletesChangedFiles: if let present = try? await store.item(identifier) { base = present.version }
        default: break
        }
        try await store.deleteItem(identifier, base: base)
    }

    func signals() -> AsyncStream<Void> { fault == .neverSignals ? AsyncStream { _ in } : store.signals() }

    func makeDurable() async throws(RemoteStoreError) {}

    func importDidFinish() async {}
}
