import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// `.Trash-UID` at the root over a store with a trash (docs/decisions/trash.md).
@Suite struct TrashTests {
    /// A bench whose store has a trash, with `d/x` in sync and the folders that a file manager creates.
    private func bench() async throws -> Bench {
        let store = MemoryStore()
        store.keepsTrash = true
        let bench = try Bench(store: store)
        try bench.makeFolder("d")
        try bench.write("one", to: "d/x")
        for folder in [".Trash-1000", ".Trash-1000/info", ".Trash-1000/files"] { try bench.makeFolder(folder) }
        try await bench.settle()
        store.clearCalls()
        return bench
    }

    /// Like a file manager: first the trashinfo, then the move.
    private func trash(_ path: String, as name: String, _ bench: Bench, user: String = "1000") throws {
        try bench.write("[Trash Info]\nPath=\(path)\n", to: ".Trash-\(user)/info/\(name).trashinfo")
        try bench.rename(path, to: ".Trash-\(user)/files/\(name)")
    }

    private func restore(_ name: String, to path: String, _ bench: Bench) throws {
        try bench.rename(".Trash-1000/files/\(name)", to: path)
        try bench.remove(".Trash-1000/info/\(name).trashinfo")
    }

    private func trashed(_ bench: Bench) async throws -> [FileName] {
        try await bench.store.enumerateItems(in: .trash, from: nil).items.map(\.filename).sorted()
    }

    @Test func trashingIsAMoveToTheStoresTrash() async throws {
        let bench = try await bench()
        let item = try #require(bench.store.item(at: "d/x"))
        try trash("d/x", as: "x", bench)
        try await bench.settle()
        #expect(bench.store.calls(of: .modifyItem).map(\.fields) == [.parent])
        #expect(bench.store.calls(of: .modifyItem).map(\.template?.parent) == [.trash])
        #expect(bench.store.entries.keys.sorted() == ["d"])
        #expect(try await trashed(bench) == [FileName("x")])
        try restore("x", to: "d/x", bench)
        try await bench.settle()
        #expect(bench.store.item(at: "d/x")?.identifier == item.identifier)
        #expect(bench.store.item(at: "d/x")?.version.content == item.version.content)
        #expect(bench.store.calls(of: .modifyItem).map(\.fields) == [.parent, .parent])
        for method in [StoreMethod.createItem, .deleteItem, .fetchContents] {
            #expect(bench.store.calls(of: method).isEmpty, "\(method)")
        }
    }

    @Test func emptyingTheTrashDeletes() async throws {
        let bench = try await bench()
        try bench.write("two", to: "d/y")
        try await bench.settle()
        try trash("d", as: "d", bench)
        try await bench.settle()
        #expect(bench.store.entries.isEmpty)
        // Like GVfs: first moved to a hidden folder.
        try bench.makeFolder(".Trash-1000/expunged")
        try bench.rename(".Trash-1000/files/d", to: ".Trash-1000/expunged/7")
        try await bench.settle()
        for name in ["x", "y"] { try bench.remove(".Trash-1000/expunged/7/\(name)") }
        try bench.remove(".Trash-1000/expunged/7", isFolder: true)
        try await bench.settle()
        #expect(bench.store.calls(of: .deleteItem).count == 3)
        #expect(try await trashed(bench).isEmpty)
        #expect(bench.store.calls(of: .fetchContents).isEmpty)
    }

    /// `.Trash`, created by an administrator for all users.
    @Test func aSharedTrashIsRecognized() async throws {
        let bench = try await bench()
        for folder in [".Trash", ".Trash/1000", ".Trash/1000/info", ".Trash/1000/files"] {
            try bench.makeFolder(folder)
        }
        try bench.rename("d/x", to: ".Trash/1000/files/x")
        try await bench.settle()
        #expect(try await trashed(bench) == [FileName("x")])
        #expect(bench.store.entries.keys.sorted() == ["d"])
        #expect(bench.store.calls(of: .createItem).isEmpty)
        #expect(throws: ReplicaError.errno(.improperLink)) { try bench.rename(".Trash", to: "other") }
    }

    @Test func unsentItemsAreTrashedLocallyOnly() async throws {
        let bench = try await bench()
        try bench.write("new", to: "d/new")
        try trash("d/new", as: "new", bench)
        try await bench.settle()
        #expect(bench.store.calls(of: .createItem).isEmpty)
        #expect(try bench.domain.report().pending == 0)
        try restore("new", to: "d/new", bench)
        try await bench.settle()
        #expect(bench.store.text(at: "d/new") == "new")
    }

    @Test func datalessFilesAreTrashedAndRestoredWithoutAFetch() async throws {
        let bench = try await bench()
        _ = try await bench.domain.evict(Bench.names("d/x"), isStrict: true)
        try trash("d/x", as: "x", bench)
        try await bench.settle()
        try restore("x", to: "x", bench)
        try await bench.settle()
        #expect(bench.store.calls(of: .fetchContents).isEmpty)
        #expect(try await bench.read("x") == "one")
    }

    /// The store has one trash; if a name is taken there, the trashinfo gets the new name too.
    @Test func twoUsersTrashFilesOfOneName() async throws {
        let bench = try await bench()
        try bench.write("two", to: "x")
        for folder in [".Trash-7", ".Trash-7/info", ".Trash-7/files"] { try bench.makeFolder(folder) }
        try trash("d/x", as: "x", bench)
        try await bench.settle()
        try trash("x", as: "x", bench, user: "7")
        try await bench.settle()
        #expect(try await trashed(bench) == [FileName("x"), FileName("x 2")])
        let tree = try bench.tree()
        #expect(tree[".Trash-1000/files/x"] == "one")
        #expect(tree[".Trash-7/files/x 2"] == "two")
        #expect(tree[".Trash-7/info/x 2.trashinfo"] == "[Trash Info]\nPath=x\n")
        #expect(tree[".Trash-7/info/x.trashinfo"] == nil)
    }

    @Test func otherClientsChangesOfTheTrashAreApplied() async throws {
        let bench = try await bench()
        for name in ["a", "b", "c"] { try bench.write(name, to: "d/\(name)") }
        try await bench.settle()
        for name in ["a", "b"] { try trash("d/\(name)", as: name, bench) }
        let ids = ["a", "b", "c"].map { bench.store.item(at: "d/\($0)")?.identifier ?? .root }
        try await bench.settle()
        let folder = try #require(bench.store.item(at: "d")).identifier
        bench.store.move(ids[0], to: folder, as: FileName("a"))
        bench.store.delete(ids[1])
        bench.store.move(ids[2], to: .trash, as: FileName("c"))
        try await bench.settle()
        let files = try bench.tree().filter { !$0.key.hasSuffix("/") }
        #expect(files == ["d/a": "a", "d/x": "one"])
    }

    @Test func anEditOfWhatAnotherClientTrashedStays() async throws {
        let bench = try await bench()
        let item = try #require(bench.store.item(at: "d/x"))
        try bench.write("edited", to: "d/x")
        bench.store.move(item.identifier, to: .trash, as: FileName("x"))
        try await bench.settle()
        #expect(bench.store.text(at: "d/x") == "edited")
        #expect(bench.store.content(of: item.identifier) == Array("one".utf8))
        #expect(try bench.tree()["d/x"] == "edited")
    }

    @Test func theTrashSurvivesALostFeedAndARestart() async throws {
        let bench = try await bench()
        try trash("d/x", as: "x", bench)
        try await bench.settle()
        bench.store.expireAnchors()
        try await bench.settle()
        try bench.restart()
        try await bench.settle()
        try bench.crash()
        try await bench.settle()
        _ = try await bench.find(".Trash-1000/files/x")
        #expect(try bench.tree()[".Trash-1000/files/x"] == "one")
        #expect(try await trashed(bench) == [FileName("x")])
        #expect(bench.store.entries.keys.sorted() == ["d"])
    }

    /// The store moved it, and the daemon died before it knew.
    @Test func aLostAnswerIsRecovered() async throws {
        let bench = try await bench()
        bench.store.setHooks(after: { (call) async throws(RemoteStoreError) in
            if call.method == .modifyItem { throw .serverUnreachable }
        })
        try trash("d/x", as: "x", bench)
        try await bench.send()
        #expect(try await trashed(bench) == [FileName("x")])
        try bench.crash()
        bench.store.setHooks()
        try await bench.settle()
        #expect(try bench.tree()[".Trash-1000/files/x"] == "one")
        #expect(try bench.tree()["d/x"] == nil)
        #expect(bench.store.calls(of: .modifyItem).count == 1)
    }

    @Test func aFolderInTheTrashIsNotAnotherFolder() async throws {
        let bench = try await bench()
        for (from, into) in [
            (".Trash-1000", "other"), (".Trash-1000/files", "files"), ("d", ".Trash-7"), ("d", ".Trash-1000/expunged"),
        ] {
            #expect(throws: ReplicaError.errno(.improperLink)) { try bench.rename(from, to: into) }
        }
        // A folder with such a name in the store is not ours.
        bench.store.write("theirs", to: ".Trash-1000/files/y")
        try await bench.settle()
        #expect(try bench.tree()[".Trash-1000/files/y"] == nil)
        #expect(try bench.domain.report().errors == 1)
        try trash("d/x", as: "x", bench)
        try await bench.settle()
        #expect(try await trashed(bench) == [FileName("x")])
    }
}
