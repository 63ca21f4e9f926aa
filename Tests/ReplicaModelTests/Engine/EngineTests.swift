import ReplicaTestSupport
import Testing

@testable import ReplicaModel

/// The engine over a memory store, one step after the other.
@Suite struct EngineTests {
    @Test func localItemsAreUploaded() async throws {
        let bench = try Bench()
        try bench.makeFolder("a")
        try bench.write("one", to: "a/x")
        try await bench.settle()
        #expect(bench.store.text(at: "a/x") == "one")
        try bench.write("two", to: "a/x")
        try bench.rename("a/x", to: "y")
        try await bench.settle()
        #expect(bench.store.text(at: "y") == "two")
        #expect(bench.store.item(at: "a/x") == nil)
        try bench.remove("y")
        try bench.remove("a", isFolder: true)
        try await bench.settle()
        #expect(bench.store.entries.isEmpty)
    }

    @Test func remoteItemsAppear() async throws {
        let bench = try Bench()
        bench.store.makeFolder("a")
        bench.store.write("one", to: "a/x")
        bench.store.write("top", to: "t")
        try await bench.settle()
        #expect(try await bench.read("a/x") == "one")
        #expect(try await bench.read("t") == "top")
        bench.store.write("newer", to: "t")
        bench.store.move("a/x", to: "z")
        try await bench.settle()
        #expect(try bench.tree()["t"] == "newer")
        #expect(try bench.tree()["z"] == "one")
        bench.store.delete("z")
        try await bench.settle()
        #expect(try bench.tree()["z"] == nil)
    }

    @Test func editsOnBothSidesAreBothKept() async throws {
        let bench = try Bench()
        bench.store.write("base", to: "f.txt")
        try await bench.settle()
        #expect(try await bench.read("f.txt") == "base")
        try bench.write("ours", to: "f.txt")
        bench.store.write("theirs", to: "f.txt")
        try await bench.settle()
        #expect(bench.store.text(at: "f.txt") == "theirs")
        let texts = bench.store.entries.values.map { String(decoding: $0.content, as: UTF8.self) }
        #expect(texts.sorted() == ["ours", "theirs"])
    }

    /// A report of an item that was moved out of a folder that was then removed only concerns the item.
    @Test func anItemMovedOutOfARemovedFolderIsKept() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try bench.write("text", to: "d/x")
        try await bench.settle()
        let identifier = try #require(bench.store.item(at: "d/x")).identifier
        try bench.rename("d/x", to: "y")
        try bench.remove("d", isFolder: true)
        bench.store.update("d/x") { $0.mode = 0o600 }
        bench.engine.askNow()
        await bench.engine.receive()
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["y"])
        let item = try #require(bench.store.item(at: "y"))
        #expect(item.identifier == identifier && item.metadata.mode == 0o600)
        #expect(try bench.tree() == ["y": "text"])
    }

    @Test func importIsOneMoveAndMatchesWhatIsThere() async throws {
        let store = MemoryStore()
        store.makeFolder("d")
        store.write("same", to: "d/same")
        store.write("other", to: "d/differs")
        store.write("only there", to: "d/theirs")
        let bench = try Bench(store: store) { path in
            try FileTree.make(path, ["d/same": "same", "d/differs": "ours", "e/new": "new"])
        }
        try await bench.settle()
        #expect(store.text(at: "d/same") == "same")
        #expect(store.text(at: "d/differs") == "other")
        #expect(store.text(at: "d/differs 2") == "ours")
        #expect(store.text(at: "e/new") == "new")
        #expect(try await bench.read("d/theirs") == "only there")
    }

    /// The store's root may be shared, or not even a folder.
    @Test func theRootsAttributesStayLocal() async throws {
        let bench = try Bench()
        try await bench.settle()
        var change = AttributeChange()
        (change.mode, change.modified) = (0o700, .now)
        _ = try bench.replica.setAttributes(change, of: ItemNumber.root)
        try bench.setXattr("user.color", "red", of: "")
        #expect(bench.replica.withTree { $0.pending.isEmpty })
        // An earlier release noted that.
        bench.replica.withTree { tree in
            tree.root.dirty = .mode
            tree.root.failure = Failure(code: "malformedAnswer", message: "", attempts: 1, retryAt: nil)
            tree.note(tree.root)
        }
        try bench.restart()
        try await bench.settle()
        #expect(bench.replica.withTree { $0.pending.isEmpty })
        #expect(try bench.domain.report().errors == 0)
        #expect(bench.store.calls(of: .modifyItem).isEmpty)
    }

    @Test func aCrashLosesNothing() async throws {
        let bench = try Bench()
        try bench.makeFolder("a")
        try bench.write("one", to: "a/x")
        try await bench.settle()
        try bench.write("two", to: "a/x")
        try bench.write("three", to: "a/new")
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.text(at: "a/x") == "two")
        #expect(bench.store.text(at: "a/new") == "three")
        try bench.remove("a/new")
        try bench.rename("a", to: "b")
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["b", "b/x"])
    }
}

/// Truncating a dataless file.
@Suite struct DatalessTruncationTests {
    private func cut(_ bench: Bench, _ path: String, to size: Int64) async throws {
        var change = AttributeChange()
        change.size = size
        _ = try bench.replica.setAttributes(change, of: try await bench.find(path))
    }

    @Test func truncatingADatalessFileFetchesNothing() async throws {
        let bench = try Bench()
        bench.store.write("0123456789", to: "f")
        try await bench.settle()
        try await cut(bench, "f", to: 4)
        #expect(bench.store.calls(of: .fetchContents).isEmpty)
        #expect(try await bench.read("f") == "0123")
        try await bench.settle()
        #expect(bench.store.text(at: "f") == "0123")
        #expect(try bench.tree()["f"] == "0123")
    }

    @Test func aTruncationSurvivesACrash() async throws {
        let bench = try Bench()
        bench.store.write("0123456789", to: "f")
        try await bench.settle()
        try await cut(bench, "f", to: 7)
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.text(at: "f") == "0123456")
    }

    @Test func newerContentWinsOverATruncation() async throws {
        let bench = try Bench()
        bench.store.write("0123456789", to: "f")
        try await bench.settle()
        try await cut(bench, "f", to: 4)
        bench.store.write("newer and longer", to: "f")
        try await bench.settle()
        #expect(try await bench.read("f") == "newer and longer")
        #expect(bench.store.text(at: "f") == "newer and longer")
    }
}

/// What is in memory.
@Suite struct LoadingTests {
    @Test func unusedNodesAreReleasedAndReloaded() async throws {
        let bench = try Bench()
        for folder in ["a", "a/b"] { try bench.makeFolder(folder) }
        for index in 0..<20 { try bench.write("\(index)", to: "a/b/f\(index)") }
        try await bench.settle()
        bench.replica.withTree { tree in
            for node in tree.items.values where node !== tree.root { node.lookups = 0 }
            tree.unloadFolders(limit: 1000)
        }
        #expect(bench.replica.withTree { $0.items.count } < 5)
        #expect(try bench.tree()["a/b/f7"] == "7")
        try bench.write("new", to: "a/b/f7")
        bench.store.write("theirs", to: "a/b/f8")
        try await bench.settle()
        #expect(bench.store.text(at: "a/b/f7") == "new")
        #expect(try bench.tree()["a/b/f8"] == "theirs")
    }

    @Test func aNewListingLoadsOnlyNewItems() async throws {
        let bench = try Bench()
        for folder in ["a", "a/b"] { try bench.makeFolder(folder) }
        for index in 0..<20 { try bench.write("\(index)", to: "a/b/f\(index)") }
        try await bench.settle()
        bench.store.expireAnchors()
        try bench.restart()
        try await bench.settle()
        #expect(bench.replica.withTree { $0.items.count } == 1)
        bench.store.write("theirs", to: "a/b/f8")
        bench.store.expireAnchors()
        try bench.restart()
        try await bench.settle()
        #expect(bench.replica.withTree { $0.items.count } > 1)
        #expect(try bench.tree()["a/b/f8"] == "theirs")
    }
}
