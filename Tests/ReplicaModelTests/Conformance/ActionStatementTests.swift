import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// Seed C, "see also": what the older extension's actions are here.
@Suite struct ActionStatementTests {
    @Test(arguments: [true, false]) func statement58_rmInTheTrashIsADeletion(keepsTrash: Bool) async throws {
        let store = MemoryStore()
        store.keepsTrash = keepsTrash
        let bench = try Bench(store: store)
        for folder in [".Trash-1000", ".Trash-1000/files"] { try bench.makeFolder(folder) }
        try bench.write("old", to: "x")
        try await bench.settle()
        let identifier = try #require(store.item(at: "x")?.identifier)
        try bench.rename("x", to: ".Trash-1000/files/x")
        try await bench.settle()
        #expect(try await store.item(identifier).filename == FileName("x"))
        store.clearCalls()
        try bench.remove(".Trash-1000/files/x")
        try await bench.settle()
        #expect(store.calls(of: .deleteItem).map(\.identifier) == [identifier])
        #expect(store.calls(of: .modifyItem).isEmpty)
        await #expect(throws: RemoteStoreError.noSuchItem(identifier)) { try await store.item(identifier) }
    }

    @Test func statement59_aFileThatIsPutInAFolderIsImported() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try await bench.settle()
        try bench.write("document", to: "d/x.txt")
        try await bench.settle()
        let call = try #require(bench.store.calls(of: .createItem).last)
        #expect(call.template?.parent == bench.store.item(at: "d")?.identifier)
        #expect(call.template?.filename == FileName("x.txt"))
        #expect(call.fields.isSuperset(of: [.contents, .place, .modificationDate]))
        #expect(call.hasContents)
        #expect(bench.store.text(at: "d/x.txt") == "document")
    }

    @Test(arguments: [true, false])
    func statement60_mvInAFolderChangesTheNameOnly(isFolder: Bool) async throws {
        let bench = try Bench()
        isFolder ? try bench.makeFolder("x") : try bench.write("one", to: "x")
        try await bench.settle()
        let identifier = bench.store.item(at: "x")?.identifier
        try bench.rename("x", to: "y")
        try await bench.settle()
        #expect(bench.store.calls(of: .modifyItem).map(\.fields) == [.filename])
        #expect(bench.store.item(at: "y")?.identifier == identifier)
        #expect(bench.store.calls(of: .createItem).count == 1)
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
    }

    @Test func statement61_mvElsewhereChangesTheParent() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try bench.write("one", to: "x")
        try await bench.settle()
        let identifier = bench.store.item(at: "x")?.identifier
        try bench.rename("x", to: "d/x")
        try await bench.settle()
        try bench.rename("d/x", to: "y")
        try await bench.settle()
        #expect(bench.store.calls(of: .modifyItem).map(\.fields) == [.parent, .place])
        #expect(bench.store.item(at: "y")?.identifier == identifier)
    }

    @Test func statement62_aFavoriteRankGoesBothWays() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try await bench.settle()
        try bench.setXattr("user.replica.favorite", "7", of: "d")
        try await bench.settle()
        #expect(bench.store.calls(of: .modifyItem).map(\.fields) == [.favoriteRank])
        #expect(bench.store.item(at: "d")?.metadata.favoriteRank == 7)
        bench.store.update("d") { $0.favoriteRank = 9 }
        try await bench.settle()
        let value = try bench.replica.xattr("user.replica.favorite", of: try bench.number("d"))
        #expect(String(decoding: value, as: UTF8.self) == "9")
    }

    @Test func statement63_theLastUsedDateIsNoModification() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        let modified = try bench.status("x").st_mtim
        try bench.setXattr("user.replica.lastused", "123456789", of: "x")
        try await bench.settle()
        #expect(bench.store.calls(of: .modifyItem).map(\.fields) == [.lastUsedDate])
        #expect(bench.store.item(at: "x")?.metadata.lastUsedDate == Timestamp(nanoseconds: 123_456_789))
        let now = try bench.status("x").st_mtim
        #expect(now.tv_sec == modified.tv_sec && now.tv_nsec == modified.tv_nsec)
    }

    @Test func statement64_tagsGoBothWaysAndSurviveEviction() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        try bench.setXattr("user.xdg.tags", "red,green", of: "x")
        try await bench.settle()
        #expect(bench.store.calls(of: .modifyItem).map(\.fields) == [.tags])
        #expect(bench.store.item(at: "x")?.metadata.tags == "red,green")
        #expect(try await bench.domain.evict(Bench.names("x"), isStrict: true).items == 1)
        bench.store.update("x") { $0.tags = "blue" }
        try await bench.settle()
        let value = try bench.replica.xattr("user.xdg.tags", of: try bench.number("x"))
        #expect(String(decoding: value, as: UTF8.self) == "blue")
        #expect(bench.store.calls(of: .fetchContents).isEmpty)
    }

    private static let values = ["user.replica.favorite": "7", "user.replica.lastused": "99", "user.xdg.tags": "red"]

    @Test(arguments: values.keys.sorted()) func clearedFieldsAreClearedOnTheOtherSide(attribute: String) async throws {
        let bench = try Bench()
        for name in ["x", "y"] {
            try bench.write("one", to: name)
            try bench.setXattr(attribute, try #require(Self.values[attribute]), of: name)
        }
        try await bench.settle()
        let set = try #require(bench.store.item(at: "x")?.metadata)
        #expect(bench.store.calls(of: .createItem).count == 2)
        #expect(bench.store.calls(of: .modifyItem).isEmpty)
        try bench.replica.setXattr(attribute, nil, flags: 0, of: try bench.number("x"))
        bench.store.update("y") { $0.take([.tags, .lastUsedDate, .favoriteRank], from: .cleared) }
        try await bench.settle()
        var cleared = set
        cleared.take(bench.store.calls(of: .modifyItem).first?.fields ?? [], from: .cleared)
        #expect(cleared != set)
        #expect(bench.store.item(at: "x")?.metadata == cleared)
        #expect(throws: ReplicaError.errno(Errno(rawValue: ENODATA))) {
            try bench.replica.xattr(attribute, of: try bench.number("y"))
        }
    }

    @Test(arguments: ["user.replica.favorite", "user.replica.lastused"])
    func datesAndRanksAreNumbers(attribute: String) throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        for value in ["", "soon", "1.5"] {
            #expect(throws: ReplicaError.errno(.invalidArgument)) { try bench.setXattr(attribute, value, of: "x") }
        }
    }
}
