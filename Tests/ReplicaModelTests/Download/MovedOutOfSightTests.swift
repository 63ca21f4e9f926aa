import ReplicaTestSupport
import Testing

@testable import ReplicaModel

/// The store moves an item that is changed here at the same time to an unlisted folder. The item is followed there, and
/// not created a second time.
@Suite struct MovedOutOfSightTests {
    /// A domain that knows `file` and `folder` with its contents, and only the name of `far`.
    private static func bench() async throws -> Bench {
        let store = MemoryStore()
        store.write("text", to: "file")
        store.write("inner text", to: "folder/inner")
        store.write("other text", to: "folder/other")
        store.makeFolder("far/deep")
        let bench = try Bench(store: store)
        try await bench.engine.list(.root)
        try await bench.settle()
        try await bench.engine.list(try bench.number("folder"))
        #expect(try await bench.read("folder/inner") == "inner text")
        #expect(try await bench.read("file") == "text")
        try await bench.settle()
        #expect(try Set(bench.tree().keys).isSuperset(of: ["far/", "folder/", "folder/inner", "folder/other", "file"]))
        return bench
    }

    @Test(arguments: ["far", "far/deep"])
    func anEditedFileIsFollowed(_ place: String) async throws {
        let bench = try await Self.bench()
        try bench.write("edited", to: "file")
        bench.store.move("file", to: "\(place)/file")
        try await bench.settle()
        #expect(
            bench.store.entries.keys.sorted()
                == ["far", "far/deep", "\(place)/file", "folder", "folder/inner", "folder/other"].sorted())
        #expect(bench.store.text(at: "\(place)/file") == "edited")
        #expect(try await bench.read("\(place)/file") == "edited")
    }

    @Test(arguments: ["far", "far/deep"])
    func aFolderWithChangesIsFollowed(_ place: String) async throws {
        let bench = try await Self.bench()
        try bench.write("edited", to: "folder/inner")
        try bench.write("new", to: "folder/new")
        try bench.rename("folder/other", to: "folder/renamed")
        bench.store.move("folder", to: "\(place)/moved")
        try await bench.settle()
        let inner = ["inner", "new", "renamed"].map { "\(place)/moved/\($0)" }
        #expect(bench.store.entries.keys.sorted() == (["far", "far/deep", "file", "\(place)/moved"] + inner).sorted())
        #expect(inner.map { bench.store.text(at: $0) } == ["edited", "new", "other text"])
        #expect(try await bench.read("\(place)/moved/inner") == "edited")
    }

    /// An item that moved into the folder here, but is at another place in the store, moves with it.
    @Test func anItemMovedIntoTheFolderGoesWithIt() async throws {
        let bench = try await Self.bench()
        try bench.rename("file", to: "folder/file")
        bench.store.move("folder", to: "far/deep/folder")
        try await bench.settle()
        #expect(
            bench.store.entries.keys.sorted() == [
                "far", "far/deep", "far/deep/folder", "far/deep/folder/file", "far/deep/folder/inner",
                "far/deep/folder/other",
            ])
    }

    /// If the store does not answer where the folder is, it is asked again after a while, not at every pass.
    @Test func anUnansweredQueryIsRepeatedLater() async throws {
        let bench = try await Self.bench()
        let store = bench.store
        try bench.write("edited", to: "file")
        store.move("file", to: "far/deep/file")
        let folder = try #require(store.item(at: "far/deep")?.identifier)
        store.setHooks(before: { call throws(RemoteStoreError) in
            if call.method == .item, call.identifier == folder { throw .itemUnavailable("locked") }
        })
        store.clearCalls()
        bench.engine.askNow()
        for _ in 0..<5 { await bench.engine.receive() }
        #expect(store.calls(of: .item).filter { $0.identifier == folder }.count == 1)
        #expect(try await bench.read("file") == "edited")
        store.setHooks()
        try await bench.settle()
        #expect(store.text(at: "far/deep/file") == "edited")
        #expect(store.calls(of: .createItem).isEmpty)
    }

    /// The move of a folder was not reported, and its parent here moves into it in the store: the store is asked.
    @Test func anUnreportedMoveIsQueried() async throws {
        let memory = MemoryStore()
        let between = memory.makeFolder("outer/between/inner").parent
        memory.write("text", to: "outer/between/inner/file")
        memory.makeFolder("far/deep")
        let bench = try Bench(store: memory, through: SilentFeed(store: memory, omits: { $0 == between }))
        try await bench.engine.list(.root)
        try await bench.settle()
        try await Self.list(["outer", "outer/between", "outer/between/inner"], bench)
        #expect(try await bench.read("outer/between/inner/file") == "text")
        try await bench.settle()
        memory.move("outer/between", to: "far/deep/between")
        memory.move("outer", to: "far/deep/between/inner/outer")
        try await bench.settle()
        #expect(try Set(bench.tree().keys) == ["far/"])
        let inner = "far/deep/between/inner"
        try await Self.list(["far", "far/deep", "far/deep/between", inner], bench)
        #expect(try await bench.read("\(inner)/file") == "text")
        _ = try await bench.find("\(inner)/outer")
    }

    private static func list(_ paths: [String], _ bench: Bench) async throws {
        for path in paths {
            _ = try await bench.find(path)
            try await bench.engine.list(try bench.number(path))
        }
    }

    /// Without changes nothing of it stays here, and no listing is requested.
    @Test func anUnchangedFolderLeavesTheTree() async throws {
        let bench = try await Self.bench()
        bench.store.clearCalls()
        bench.store.move("folder", to: "far/deep/folder")
        try await bench.settle()
        #expect(try Set(bench.tree().keys) == ["far/", "file"])
        #expect(bench.store.calls(of: .enumerateItems).isEmpty)
    }
}
