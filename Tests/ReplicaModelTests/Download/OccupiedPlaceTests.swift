import Foundation
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// The store moves an item to an occupied place, or to an unlisted folder.
@Suite struct OccupiedPlaceTests {
    private func makeBench(_ texts: [String: String]) async throws -> Bench {
        let store = MemoryStore()
        for (path, text) in texts { store.write(text, to: path) }
        let bench = try Bench(store: store)
        try await bench.settle()
        return bench
    }

    /// An item that is moved to an unlisted folder disappears here, and nothing is created there.
    @Test func anUnlistedFolderStaysUnlisted() async throws {
        let bench = try await makeBench(["x": "one", "d/y": "two"])
        #expect(try await bench.read("x") == "one")
        bench.store.move("x", to: "d/x")
        try await bench.receive()
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folders.tree.string) == ["d"])
        let below = bench.folders.tree.appending("d").string
        #expect(try FileManager.default.contentsOfDirectory(atPath: below) == [])
        try await bench.domain.download(Bench.names("d"), waits: true)
        #expect(try await bench.read("d/x") == "one")
        #expect(bench.store.entries.keys.sorted() == ["d", "d/x", "d/y"])
    }

    /// An item that was edited here keeps its bytes: the folder is listed first.
    @Test func anEditMovesWithItsItem() async throws {
        let bench = try await makeBench(["x": "one", "d/y": "two"])
        let identifier = bench.store.item(at: "x")?.identifier
        #expect(try await bench.read("x") == "one")
        try bench.write("edited", to: "x")
        bench.store.move("x", to: "d/x")
        try await bench.receive()
        try await bench.settle()
        #expect(bench.store.text(at: "d/x") == "edited")
        #expect(bench.store.item(at: "d/x")?.identifier == identifier)
        #expect(bench.store.entries.keys.sorted() == ["d", "d/x", "d/y"])
    }

    /// The item with that name moves away itself, in a report that is still to come: it is not renamed.
    @Test func anItemWithAPendingMoveKeepsItsName() async throws {
        let bench = try await makeBench(["a": "one", "b": "two"])
        bench.store.move("b", to: "c")
        bench.store.move("a", to: "b")
        // The feed may report the second one first.
        let asked = bench.replica.answers
        let changes = ["b", "c"].compactMap { bench.store.item(at: $0) }.map {
            Incoming(identifier: $0.identifier, item: $0, asked: asked)
        }
        try bench.replica.noteIncoming(changes, anchor: nil)
        await bench.engine.applyIncoming()
        try await bench.receive()
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["b", "c"])
        #expect(bench.store.text(at: "b") == "one" && bench.store.text(at: "c") == "two")
        #expect(try bench.tree().keys.sorted() == ["b", "c"])
        #expect(bench.store.calls(of: .modifyItem).isEmpty)
    }

    /// An item that the store does not know yet is renamed immediately.
    @Test func newLocalItemsAreRenamed() async throws {
        let bench = try await makeBench(["a": "one"])
        try bench.write("ours", to: "b")
        bench.store.move("a", to: "b")
        try await bench.receive()
        #expect(try await bench.read("b") == "one")
        #expect(try await bench.read("b 2") == "ours")
        try await bench.settle()
        #expect(bench.store.text(at: "b") == "one" && bench.store.text(at: "b 2") == "ours")
        #expect(bench.store.entries.count == 2)
    }
}
