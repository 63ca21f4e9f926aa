import ReplicaModel
import ReplicaTestSupport
import Threads

/// The memory store as one run of the daemon sees it: with faults, races and death at its calls.
final class SimulatedStore: RemoteStore {
    private let store: any RemoteStore
    private let world: World
    private let isDead = Locked(false)

    init(_ store: any RemoteStore, _ world: World) {
        self.store = store
        self.world = world
    }

    /// The daemon is gone: nothing that is left of it reaches the store.
    func die() { isDead.withLock { $0 = true } }

    var properties: StoreProperties {
        var properties = store.properties
        properties.concurrency = 2
        return properties
    }

    private func pass<Result: Sendable>(
        _ call: StoreCall, _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        try await strike(call, .before)
        world.rules.check(call, world.store) { world.isHere($0) }
        let result = try await body()
        world.rules.note(call, result, world.store)
        world.say("    store: \(Describe.call(call))")
        try await strike(call, .after)
        return result
    }

    private func strike(_ call: StoreCall, _ moment: FaultyStore.Moment) async throws(RemoteStoreError) {
        if isDead.withLock({ $0 }) { throw .cancelled }
        world.checkStill()
        guard world.isInTime() else {
            die()
            await world.freeze()
            throw .cancelled
        }
        // Over paths what happens happens at the storage's calls.
        if world.paths == nil, await world.isOver(at: moment, Describe.call(call)) { throw .cancelled }
        if moment == .before, world.script.withLock({ $0.refuses(call.identifier) }) {
            world.say("    refused \(Describe.call(call))")
            throw .itemUnavailable("refused")
        }
        if let error = world.script.withLock({ $0.fault(of: [call.method], at: moment) }) {
            if error == .excludedFromSync { world.rules.noteExclusion() }
            world.say("    \(error.code) \(moment) \(Describe.call(call))")
            throw error
        }
    }

    func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item {
        try await pass(StoreCall(.item, identifier)) { () async throws(RemoteStoreError) in
            try await store.item(identifier)
        }
    }

    func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage {
        try await pass(StoreCall(.enumerateItems, folder)) { () async throws(RemoteStoreError) in
            try await store.enumerateItems(in: folder, from: page)
        }
    }

    func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor {
        try await pass(StoreCall(.currentAnchor)) { () async throws(RemoteStoreError) in
            try await store.currentAnchor()
        }
    }

    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        let batch = try await pass(StoreCall(.enumerateChanges)) { () async throws(RemoteStoreError) in
            try await store.enumerateChanges(from: anchor)
        }
        return world.script.withLock { script in
            guard var random = script.shuffle else { return batch }
            var batch = batch
            batch.updated.shuffle(using: &random)
            batch.deleted.shuffle(using: &random)
            if random.chance(30) {
                // The same again next time; there must be an end to it.
                batch.anchor = anchor
                batch.moreComing = false
            }
            script.shuffle = random.chance(30) ? nil : random
            return batch
        }
    }

    func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item {
        var call = StoreCall(.fetchContents, identifier)
        call.range = range
        return try await pass(call) { () async throws(RemoteStoreError) in
            try await store.fetchContents(of: identifier, version: version, range: range, into: sink)
        }
    }

    func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        var call = StoreCall(.createItem, template.identifier)
        (call.template, call.fields, call.options) = (template, fields, options.rawValue)
        call.hasContents = contents != nil
        return try await pass(call) { () async throws(RemoteStoreError) in
            try await store.createItem(basedOn: template, fields: fields, contents: contents, options: options)
        }
    }

    func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item? {
        var call = StoreCall(.itemCreated, template.identifier)
        call.template = template
        return try await pass(call) { () async throws(RemoteStoreError) in
            try await store.itemCreated(from: template)
        }
    }

    func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        var call = StoreCall(.modifyItem, template.identifier)
        (call.template, call.fields, call.base) = (template, changedFields, base)
        call.hasContents = contents != nil
        return try await pass(call) { () async throws(RemoteStoreError) in
            try await store.modifyItem(
                template, base: base, changedFields: changedFields, contents: contents)
        }
    }

    func deleteItem(
        _ identifier: ItemIdentifier, base: ItemVersion
    ) async throws(RemoteStoreError) {
        var call = StoreCall(.deleteItem, identifier)
        call.base = base
        try await pass(call) { () async throws(RemoteStoreError) in
            try await store.deleteItem(identifier, base: base)
        }
    }

    func signals() -> AsyncStream<Void> { store.signals() }

    func makeDurable() async throws(RemoteStoreError) {}

    func importDidFinish() async {}
}
