import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// A domain that was added, not imported: it is unlisted at first, which differs from an empty folder.
@Suite struct NewDomainTests {
    private func bench() throws -> Bench {
        let bench = try Bench(isAdded: true)
        bench.store.write("theirs", to: "f")
        bench.store.write("theirs", to: "d/g")
        return bench
    }

    @Test func aLookupWaitsForTheFirstListing() async throws {
        let bench = try bench()
        #expect(throws: ReplicaError.needsListing(.root)) { try bench.number("f") }
        #expect(throws: ReplicaError.needsListing(.root)) { try bench.replica.entries(of: .root) }
        #expect(throws: ReplicaError.needsListing(.root)) { try bench.makeFolder("d") }
        #expect(try await bench.read("f") == "theirs")
        #expect(try bench.tree().keys.sorted() == ["d/", "f"])
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["d", "d/g", "f"])
    }

    @Test func theRootIsListedUnasked() async throws {
        let bench = try bench()
        try await bench.settle()
        #expect(try bench.tree().keys.sorted() == ["d/", "f"])
        #expect(bench.store.calls(of: .enumerateItems).count == 1)
    }

    @Test func anEmptyStoreIsAnEmptyFolder() async throws {
        let bench = try Bench(isAdded: true)
        try await bench.settle()
        #expect(try bench.tree().isEmpty)
        try bench.write("ours", to: "f")
        try await bench.settle()
        #expect(bench.store.text(at: "f") == "ours")
    }

    @Test func withoutTheStoreTheRootIsUnknown() async throws {
        let bench = try bench()
        bench.store.fail(.enumerateItems, with: .notAuthenticated)
        await bench.engine.receive()
        #expect(bench.engine.state.withLock { $0.storeFailure?.code } == RemoteStoreError.notAuthenticated.code)
        #expect(throws: ReplicaError.needsListing(.root)) { try bench.replica.entries(of: .root) }
        bench.store.fail(.enumerateItems, with: .serverUnreachable)
        await #expect(throws: Errno(rawValue: EHOSTUNREACH)) { try await bench.engine.list(.root) }
        // As soon as the store answers.
        try await bench.settle()
        #expect(try bench.tree().keys.sorted() == ["d/", "f"])
    }

    @Test func theRootIsListedAfterACrash() async throws {
        let bench = try bench()
        // Entries that a listing had created before the crash.
        let leftover = bench.folders.tree.string + "/f"
        close(open(leftover, O_WRONLY | O_CREAT, 0o644))
        #expect(truncate(leftover, 6) == 0)
        let place = BackingPath(folder: AT_FDCWD, name: FileName(leftover), isOrphan: true)
        try place.setXattr(OwnXattr.dataless, to: bench.replica.withTree { $0.mark.value })
        try bench.crash()
        #expect(throws: ReplicaError.needsListing(.root)) { try bench.number("f") }
        try await bench.settle()
        #expect(try await bench.read("f") == "theirs")
        #expect(try bench.tree().keys.sorted() == ["d/", "f"])
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
    }

    @Test func itemsCreatedAfterTheListingSurviveACrash() async throws {
        let bench = try bench()
        try await bench.engine.list(.root)
        try bench.write("ours", to: "h")
        try bench.crash()
        #expect(try bench.tree().keys.sorted() == ["d/", "f", "h"])
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["d", "d/g", "f", "h"])
        // Also with a database that does not know of the listing.
        for part in ["", "-wal", "-shm"] { unlink(bench.folders.database.string + part) }
        try bench.crash()
        try await bench.settle()
        #expect(try bench.tree().keys.sorted() == ["d/", "d/g", "f", "h"])
        #expect(try await bench.read("h") == "ours")
    }
}
