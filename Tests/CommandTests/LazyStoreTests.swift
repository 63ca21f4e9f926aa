import Glibc
import ReplicaModel
import ReplicaTestSupport
import Synchronization
import SystemPackage
import Testing
import Threads

@testable import mount_replica

/// A store that is opened when it is first needed.
@Suite struct LazyStoreTests {
    /// Either loop of the engine may need it first.
    @Test func concurrentCallsShareOneStore() async throws {
        let openings = Atomic(0)
        let store = LazyStore(known: StoreProperties()) {
            // The second is not to come: it gets a second.
            let count = openings.add(1, ordering: .relaxed).newValue
            let end = ContinuousClock.now + .seconds(1)
            while count == 1, openings.load(ordering: .relaxed) < 2, ContinuousClock.now < end { usleep(1_000) }
            return OpenStore(store: MemoryStore())
        }
        async let one = make("one", in: store)
        async let other = make("other", in: store)
        _ = try await (one, other)
        let names = try await store.enumerateItems(in: .root, from: nil).items.map(\.filename.description)
        #expect(names.sorted() == ["one", "other"])
    }

    @Test func knownPropertiesApplyUntilTheStoreIsReached() async throws {
        var (known, own) = (StoreProperties(), StoreProperties())
        known.isCaseSensitive = false
        own.keepsSymlinks = false
        let isThere = Atomic(false)
        let told = Locked<[StoreProperties]>([])
        let found = own
        let store = LazyStore(known: known) { properties in
            told.withLock { $0.append(properties) }
        } opening: { () async throws(OpeningFailure) in
            guard isThere.load(ordering: .relaxed) else {
                throw OpeningFailure(error: .serverUnreachable, message: "the cable is cut")
            }
            let store = MemoryStore()
            store.properties = found
            return OpenStore(store: store)
        }
        await #expect(throws: RemoteStoreError.serverUnreachable) { try await store.item(.root) }
        #expect(store.properties == known)
        #expect(store.trouble == "the cable is cut")
        isThere.store(true, ordering: .relaxed)
        for _ in 0..<2 { _ = try await store.item(.root) }
        #expect(store.properties == own)
        #expect(store.trouble == nil)
        #expect(told.withLock { $0 } == [own])
    }

    @Test func propertiesAreSavedWithTheDomain() throws {
        let folder = try TemporaryFolder()
        let state = folder.path
        #expect(SavedStoreProperties.read(state: state) == nil)
        var properties = StoreProperties()
        properties.fields = [.contents, .place]
        properties.longestName = 100
        for _ in 0..<2 {
            try SavedStoreProperties.write(properties, state: state)
            #expect(SavedStoreProperties.read(state: state) == properties)
            properties.isCaseSensitive = false
        }
        for wrong in [0, 129] {
            properties.concurrency = wrong
            try SavedStoreProperties.write(properties, state: state)
            #expect(SavedStoreProperties.read(state: state) == nil)
        }
        let file = try FileDescriptor.open(state.appending("store.json"), .writeOnly, options: .truncate)
        try file.close()
        #expect(SavedStoreProperties.read(state: state) == nil)
    }

    private func make(_ name: String, in store: LazyStore) async throws -> StoreResult {
        let template = ItemTemplate(
            identifier: ItemIdentifier(name), parent: .root, filename: FileName(name), kind: .folder)
        return try await store.createItem(basedOn: template, fields: .place, contents: nil, options: [])
    }
}
