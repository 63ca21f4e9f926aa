import ReplicaTestSupport
import Testing

@testable import ReplicaModel

/// Items that the store has and now excludes: they are first fetched, then deleted there (MODEL.md#errors,
/// excludedFromSync).
@Suite struct WithdrawTests {
    @Test func anExcludedFileStaysLocal() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        bench.store.fail(.modifyItem, with: .excludedFromSync)
        try bench.write("two", to: "x")
        try await bench.settle()
        #expect(bench.store.entries.isEmpty)
        #expect(try bench.tree() == ["x": "two"])
        #expect(try bench.domain.report().pending == 0)
        #expect(try bench.domain.report().errors == 0)
        try bench.restart()
        try await bench.settle()
        #expect(bench.store.calls(of: .createItem).count == 1)
        // After an edit the store is asked again.
        _ = try await bench.find("x")
        try bench.setXattr("user.xdg.tags", "red", of: "x")
        try await bench.settle()
        #expect(bench.store.text(at: "x") == "two")
    }

    @Test func datalessContentIsFetchedBeforeDeletion() async throws {
        let bench = try Bench()
        try await bench.settle()
        bench.store.write("one", to: "d/e/x")
        bench.store.write("two", to: "d/y")
        try await bench.settle()
        _ = try await bench.find("d")
        bench.store.fail(.modifyItem, with: .excludedFromSync)
        try bench.setXattr("user.note", "private", of: "d")
        try await bench.settle()
        #expect(bench.store.entries.isEmpty)
        #expect(bench.store.calls(of: .deleteItem).count == 4)
        let expected: [String: String?] = ["d/": nil, "d/e/": nil, "d/e/x": "one", "d/y": "two"]
        #expect(try bench.tree() == expected)
        #expect(try bench.domain.report().pending == 0)
        try bench.restart()
        try await bench.settle()
        _ = try await bench.find("d/e/x")
        #expect(try bench.tree() == expected)
        try bench.domain.resolved("excludedFromSync")
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["d", "d/e", "d/e/x", "d/y"])
    }

    @Test func nothingIsDeletedWhileItsContentCannotBeFetched() async throws {
        let bench = try Bench()
        try await bench.settle()
        bench.store.write("one", to: "x")
        try await bench.settle()
        bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
            if call.method == .fetchContents { throw .cannotSynchronize("no") }
            if call.method == .modifyItem { throw .excludedFromSync }
        })
        try bench.setXattr("user.note", "private", of: "x")
        try await bench.exchange()
        #expect(!bench.store.calls(of: .fetchContents).isEmpty)
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
        #expect(bench.store.text(at: "x") == "one")
        #expect(try bench.domain.report().pending == 1)
        bench.store.setHooks()
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.entries.isEmpty)
        #expect(try bench.tree() == ["x": "one"])
    }

    @Test func itemsMovedIntoAnExcludedFolderLeaveTheStore() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try bench.write("one", to: "d/x")
        try bench.write("two", to: "d/y")
        try bench.write("three", to: "d/z")
        try await bench.settle()
        bench.store.fail(.createItem, with: .excludedFromSync)
        try bench.makeFolder("private")
        try await bench.settle()
        // Some of it is deleted, some is moved, and the rest is deleted with its folder.
        try bench.remove("d/z")
        try bench.rename("d/y", to: "y")
        try bench.rename("d", to: "private/d")
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["y"])
        let expected: [String: String?] = ["private/": nil, "private/d/": nil, "private/d/x": "one", "y": "two"]
        #expect(try bench.tree() == expected)
        try bench.rename("private/d", to: "d")
        try await bench.settle()
        #expect(bench.store.text(at: "d/x") == "one")
        #expect(try bench.domain.report().pending == 0)
    }

    /// An item that left the folder here is still in it in the store: the folder is deleted afterwards.
    @Test func aFolderIsDeletedAfterItsEntries() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        for name in ["x", "y"] { try bench.write(name, to: "d/\(name)") }
        try await bench.settle()
        bench.store.fail(.createItem, with: .excludedFromSync)
        try bench.makeFolder("private")
        try await bench.settle()
        bench.store.fail(.modifyItem, with: .cannotSynchronize("not now"))
        try bench.rename("d/y", to: "y")
        try bench.rename("d", to: "private/d")
        try await bench.exchange()
        #expect(bench.store.entries.keys.sorted() == ["d", "d/y"])
        #expect(bench.store.calls(of: .deleteItem).count == 1)
        bench.domain.retry()
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["y"])
        #expect(bench.store.calls(of: .deleteItem).count == 2)
        #expect(try bench.tree() == ["private/": nil, "private/d/": nil, "private/d/x": "x", "y": "y"])
    }

    /// A deletion never removes another client's edit: that becomes a separate item.
    @Test func aConcurrentEditByAnotherClientIsKept() async throws {
        let bench = try Bench()
        try bench.write("ours", to: "x")
        try await bench.settle()
        bench.store.fail(.modifyItem, with: .excludedFromSync)
        try bench.setXattr("user.note", "private", of: "x")
        try await bench.send()
        bench.store.write("theirs", to: "x")
        try await bench.settle()
        #expect(bench.store.text(at: "x") == "theirs")
        #expect(try await bench.read("x") == "theirs")
        #expect(try await bench.read("x 2") == "ours")
    }
}
