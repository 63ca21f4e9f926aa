import ReplicaTestSupport
import Testing
import Threads

@testable import ReplicaModel

/// A first listing contains an item that is known at another place, without a report of the move.
@Suite struct MovedBeforeListedTests {
    private static func bench() async throws -> Bench {
        let store = MemoryStore()
        let bench = try Bench(store: store, through: SilentFeed(store: store))
        store.write("text", to: "file")
        store.makeFolder("folder")
        try await bench.engine.list(.root)
        try await bench.settle()
        #expect(try Set(bench.tree().keys) == ["file", "folder/"])
        return bench
    }

    @Test func aMovedItemIsAtItsPlaceInTheStore() async throws {
        let bench = try await Self.bench()
        bench.store.move("file", to: "folder/other")
        try await bench.engine.list(try bench.number("folder"))
        try await bench.settle()
        #expect(try Set(bench.tree().keys) == ["folder/", "folder/other"])
        #expect(try await bench.read("folder/other") == "text")
    }

    /// Also after a crash right after the listing.
    @Test func aCrashLosesNoPendingListing() async throws {
        let bench = try await Self.bench()
        bench.store.move("file", to: "folder/other")
        try await bench.engine.list(try bench.number("folder"))
        try bench.crash()
        try await bench.settle()
        #expect(try Set(bench.tree().keys) == ["folder/", "folder/other"])
    }

    /// It moved again after the folder was listed: the listing is outdated.
    @Test func anOldListingMovesNothing() async throws {
        let bench = try await Self.bench()
        bench.store.move("file", to: "folder/other")
        let (store, hasMoved) = (bench.store, Locked(false))
        store.setHooks(after: { call throws(RemoteStoreError) in
            guard call.method == .enumerateItems, !hasMoved.withLock({ $0 }) else { return }
            hasMoved.withLock { $0 = true }
            store.move("folder/other", to: "last")
        })
        try await bench.engine.list(try bench.number("folder"))
        #expect(hasMoved.withLock { $0 })
        try await bench.settle()
        #expect(try Set(bench.tree().keys) == ["folder/", "last"])
    }
}
