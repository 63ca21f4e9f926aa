import Glibc
import ReplicaModel
import ReplicaTestSupport
import Synchronization
import Testing

@testable import mount_replica

/// A store that is opened when it is first needed.
@Suite struct LateStoreTests {
    /// Both loops of the engine may be the first to need it.
    @Test func callsAtOnceMeetInOneStore() async throws {
        let openings = Atomic(0)
        let store = LateStore(properties: StoreProperties()) {
            // Until both are here, or one alone for long.
            let count = openings.add(1, ordering: .relaxed).newValue
            if count == 1 { waitUntil { openings.load(ordering: .relaxed) == 2 } }
            return MemoryStore()
        }
        async let one = make("one", in: store)
        async let other = make("other", in: store)
        _ = try await (one, other)
        let names = try await store.enumerateItems(in: .root, from: nil).items.map(\.filename.description)
        #expect(names.sorted() == ["one", "other"])
    }

    private func make(_ name: String, in store: LateStore) async throws -> StoreResult {
        let template = ItemTemplate(
            identifier: ItemIdentifier(name), parent: .root, filename: FileName(name), kind: .folder)
        return try await store.createItem(basedOn: template, fields: .place, contents: nil, options: [])
    }
}

/// Holds the thread until it is so, for a second at the most.
private func waitUntil(_ isSo: () -> Bool) {
    let end = ContinuousClock.now + .seconds(1)
    while !isSo(), ContinuousClock.now < end { usleep(1_000) }
}
