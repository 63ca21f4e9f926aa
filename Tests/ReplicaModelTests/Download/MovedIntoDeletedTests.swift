import ReplicaTestSupport
import Testing

@testable import ReplicaModel

/// An item that was moved into a folder that the store deletes meanwhile keeps its identity.
@Suite struct MovedIntoDeletedTests {
    @Test func aFolderAndAPlaceholderAreSentToTheRecreatedFolder() async throws {
        let store = MemoryStore()
        store.makeFolder("d")
        store.write("one", to: "g/x")
        store.write("theirs", to: "y")
        let bench = try Bench(store: store)
        try await bench.settle()
        for folder in ["d", "g"] { try await bench.domain.download(Bench.names(folder), waits: true) }
        #expect(try await bench.read("g/x") == "one")
        let items = ["g", "g/x", "y"].map { store.item(at: $0)?.identifier }
        try bench.rename("g", to: "d/g")
        try bench.rename("y", to: "d/y")
        store.delete("d")
        try await bench.receive()
        try await bench.settle()
        #expect(store.entries.keys.sorted() == ["d", "d/g", "d/g/x", "d/y"])
        #expect(["d/g", "d/g/x", "d/y"].map { store.item(at: $0)?.identifier } == items)
        #expect(store.calls(of: .createItem).count == 1)
        #expect(store.calls(of: .deleteItem).isEmpty)
        #expect(try await bench.read("d/y") == "theirs")
    }

    /// A feed may report only the folder.
    @Test func aFolderIsDeletedWithItsItems() async throws {
        let store = MemoryStore()
        store.write("one", to: "d/x")
        store.write("two", to: "d/e/y")
        store.write("three", to: "d/never/listed/z")
        let bench = try Bench(store: store)
        try await bench.settle()
        for folder in ["d", "d/e"] { try await bench.domain.download(Bench.names(folder), waits: true) }
        #expect(try await bench.read("d/x") == "one")
        let folder = try #require(store.item(at: "d")?.identifier)
        let asked = bench.replica.answers
        try bench.replica.noteIncoming([Incoming(identifier: folder, item: nil, asked: asked)], anchor: nil)
        await bench.engine.applyIncoming()
        #expect(try bench.tree().isEmpty)
        #expect(bench.replica.withTree { $0.pending.isEmpty })
    }
}
