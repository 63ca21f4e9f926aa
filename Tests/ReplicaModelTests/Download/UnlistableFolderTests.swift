import ReplicaTestSupport
import Testing

@testable import ReplicaModel

/// A new listing of the store in which one folder can't be listed proves nothing about that folder's entries.
@Suite struct UnlistableFolderTests {
    /// A bench whose store has to be listed again and can't list the folder at `path`.
    private func makeBench(_ path: String) async throws -> Bench {
        let bench = try Bench()
        try bench.makeFolder("d")
        for path in ["d/x", "y"] { try bench.write("text", to: path) }
        try await bench.settle()
        let folder = bench.store.item(at: path)?.identifier ?? .root
        bench.store.write("theirs", to: "d/new")
        bench.store.delete("y")
        bench.store.expireAnchors()
        bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
            guard call.method == .enumerateItems, call.identifier == folder else { return }
            throw .itemUnavailable("Permission denied")
        })
        return bench
    }

    @Test func itemsOfAnUnlistableFolderAreKept() async throws {
        let bench = try await makeBench("d")
        for _ in 0..<3 {
            try await bench.receive()
            bench.pass(400)
        }
        #expect(try await bench.report("d").error?.code == "itemUnavailable")
        // The changes elsewhere are applied.
        #expect(try bench.tree().keys.sorted() == ["d/", "d/x"])
        bench.store.setHooks()
        try await bench.settle()
        #expect(try bench.tree().keys.sorted() == ["d/", "d/new", "d/x"])
        #expect(bench.store.calls(of: .createItem).count == 3)
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
    }

    @Test func withoutTheRootNothingIsKnown() async throws {
        let bench = try await makeBench("")
        for _ in 0..<3 { try await bench.receive() }
        #expect(try bench.tree().keys.sorted() == ["d/", "d/x", "y"])
        bench.store.setHooks()
        try await bench.settle()
        #expect(try bench.tree().keys.sorted() == ["d/", "d/new", "d/x"])
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
    }
}
