import Logging
import ReplicaModel
import ReplicaTestSupport
import Testing

/// Each wrapper keeps the promises of the store behind it, and adds what it is for.
@Suite struct WrapperTests {
    @Test(arguments: StorePromises.all)
    func loggedStoreKeepsPromise(_ promise: StorePromise) async throws {
        let store = MemoryStore()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        try await promise.check(
            try await StoreSubject(other: MemoryClient(store)) { LoggedStore(store, logger: logger) })
    }

    @Test(arguments: StorePromises.all)
    func limitedStoreKeepsPromise(_ promise: StorePromise) async throws {
        let store = MemoryStore()
        let limited = LimitedStore(store, limits: LimitedStore.Limits(each: 1))
        try await promise.check(try await StoreSubject(other: MemoryClient(store)) { limited })
    }

    @Test(arguments: StorePromises.all)
    func retriedStoreKeepsPromise(_ promise: StorePromise) async throws {
        let store = MemoryStore()
        try await promise.check(
            try await StoreSubject(other: MemoryClient(store)) { RetriedStore(store, pauses: [.zero]) })
    }

    /// A store that is not reached by the next so many calls, behind one that tries again twice.
    private func retried(_ store: MemoryStore, failing count: Int) -> RetriedStore {
        let left = Locked(count)
        store.setHooks(before: { (_) throws(RemoteStoreError) in
            let fails = left.withLock { left in
                defer { left -= 1 }
                return left > 0
            }
            if fails { throw .serverUnreachable }
        })
        return RetriedStore(store, pauses: [.zero, .zero])
    }

    @Test func readsAndDeletionsAreTriedAgain() async throws {
        let store = MemoryStore()
        let item = store.write("text", to: "x")
        #expect(try await retried(store, failing: 2).item(item.identifier).filename == item.filename)
        await #expect(throws: RemoteStoreError.serverUnreachable) {
            try await retried(store, failing: 3).currentAnchor()
        }
        try await retried(store, failing: 2).deleteItem(item.identifier, base: item.version)
        #expect(store.entries.isEmpty)
    }

    @Test func whatMayHaveHappenedIsNotRepeated() async throws {
        let store = MemoryStore()
        let template = ItemTemplate(
            identifier: ItemIdentifier("t"), parent: .root, filename: FileName("x"), kind: .folder)
        await #expect(throws: RemoteStoreError.serverUnreachable) {
            try await retried(store, failing: 1).createItem(basedOn: template, fields: [], contents: nil, options: [])
        }
        #expect(store.calls(of: .createItem).count == 1)
    }

    @Test(arguments: StorePromises.all)
    func faultlessFaultyStoreKeepsPromise(_ promise: StorePromise) async throws {
        let store = MemoryStore()
        try await promise.check(try await StoreSubject(other: MemoryClient(store)) { FaultyStore(store) })
    }

    @Test func logHasMethodsIdentifiersAndCodesOnly() async throws {
        let lines = Locked<[String]>([])
        let logger = Logger(label: "test") { _ in LineHandler(lines: lines) }
        let store = MemoryStore()
        let logged = LoggedStore(store, logger: logger)
        let secret = store.write("secret bytes", to: "secret name")
        _ = try await logged.item(secret.identifier)
        store.setHooks(before: { _ throws(RemoteStoreError) in throw .cannotSynchronize("secret text") })
        await #expect(throws: RemoteStoreError.self) { try await logged.enumerateItems(in: .root, from: nil) }
        let text = lines.withLock { $0.joined(separator: "\n") }
        #expect(text.contains("method=item") && text.contains("item=\(secret.identifier)"))
        #expect(text.contains("error=cannotSynchronize") && text.contains("item=replica:root"))
        #expect(!text.contains("secret"))
    }

    @Test func limitHoldsForEachClass() async throws {
        let store = MemoryStore()
        let running = Locked((now: 0, most: 0))
        store.setHooks(
            before: { _ throws(RemoteStoreError) in
                running.withLock {
                    $0.now += 1
                    $0.most = max($0.most, $0.now)
                }
                await Task.yield()
            },
            after: { _ throws(RemoteStoreError) in running.withLock { $0.now -= 1 } })
        let limited = LimitedStore(store, limits: LimitedStore.Limits(metadata: 3, uploads: 1, downloads: 1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { _ = try await limited.item(.root) } }
            try await group.waitForAll()
        }
        #expect((1...3).contains(running.withLock { $0.most }))
        #expect(store.calls.count == 50)
    }

    @Test func aWaitingCallCanBeCancelled() async throws {
        let store = MemoryStore()
        let (opened, open) = AsyncStream<Void>.makeStream()
        let (arrivals, arrived) = AsyncStream<Void>.makeStream()
        store.setHooks(before: { call throws(RemoteStoreError) in
            guard call.identifier == .root else { return }
            arrived.yield()
            for await _ in opened { return }
        })
        let limited = LimitedStore(store, limits: LimitedStore.Limits(each: 1))
        let first = Task { try await limited.item(.root) }
        for await _ in arrivals { break }
        let second = Task { try await limited.item(ItemIdentifier("never asked")) }
        second.cancel()
        let outcome = await second.result
        #expect(throws: RemoteStoreError.cancelled) { try outcome.get() }
        open.yield()
        #expect(try await first.value.identifier == .root)
        #expect(store.calls.count == 1)
    }

    @Test func faultsStrikeAsScripted() async throws {
        let store = MemoryStore()
        let faulty = FaultyStore(store)
        let template = ItemTemplate(
            identifier: ItemIdentifier("t"), parent: .root, filename: FileName("folder"), kind: .folder)
        faulty.fail(.createItem, .before, with: .insufficientQuota, times: 2)
        faulty.fail(.createItem, .after, with: .serverUnreachable)
        for error in [RemoteStoreError.insufficientQuota, .insufficientQuota, .serverUnreachable] {
            #expect(store.item(at: "folder") == nil)
            await #expect(throws: error) {
                try await faulty.createItem(basedOn: template, fields: .place, contents: nil, options: [])
            }
        }
        #expect(faulty.isSpent)
        #expect(try await faulty.itemCreated(from: template) == store.item(at: "folder"))
    }
}

private struct LineHandler: LogHandler {
    let lines: Locked<[String]>
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let pairs = (event.metadata ?? [:]).map { "\($0.key)=\($0.value)" }.sorted()
        lines.withLock { $0.append("\(event.message) \(pairs.joined(separator: " "))") }
    }
}
