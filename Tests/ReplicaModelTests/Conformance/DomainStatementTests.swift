import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// Seeds A and B, "see also": requests of a domain's owner.
@Suite struct DomainStatementTests {
    /// Runs `body` with a folder that is removed afterwards.
    private func inFolder(_ body: (String) throws -> Void) throws {
        let folder = try TemporaryFolder()
        try withExtendedLifetime(folder) { try body(folder.path.string) }
    }

    @Test func statement18_anImportReturnsOrThrowsNeverBoth() throws {
        try inFolder { folder in
            try FileTree.make(folder + "/good", ["x": "one"])
            try FileTree.make(folder, ["file": "no directory"])
            let outcomes = ["good", "file", "missing", "good"].map { name -> (Errno?, Bool) in
                let state = FilePath(folder + "/state of \(name)")
                do throws(Errno) {
                    try StateFolders(root: state).importDomain(from: DirectoryToImport(FilePath(folder + "/" + name)))
                    return (nil, access(state.string + "/tree/x", F_OK) == 0)
                } catch {
                    return (error, access(folder + "/" + name + "/x", F_OK) == 0)
                }
            }
            #expect(outcomes.map(\.0) == [nil, .notDirectory, .noSuchFileOrDirectory, .noSuchFileOrDirectory])
            #expect(outcomes.map(\.1) == [true, false, false, false])
        }
    }

    @Test func statement41_aModificationCanBeRequestedOfFields() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try bench.write("one", to: "d/x")
        try await bench.settle()
        try await bench.domain.requestModification(of: [.mode, .tags], at: Bench.names("d/x"))
        // The request is recorded when the call returns.
        try bench.crash()
        try await bench.settle()
        try await bench.domain.requestModification(of: .all, at: Bench.names("d/x"))
        try await bench.domain.requestModification(of: .place, at: Bench.names("d"))
        try await bench.settle()
        let calls = bench.store.calls(of: .modifyItem)
        #expect(calls.count == 3)
        #expect(calls.map { $0.fields.isSuperset(of: [.mode, .tags]) } == [true, true, false])
        #expect(calls.map(\.hasContents) == [false, true, false])
        #expect(bench.store.entries.keys.sorted() == ["d", "d/x"])
        #expect(bench.store.text(at: "d/x") == "one")
    }

    @Test func statement41_missingItemsCannotBeRequested() async throws {
        let bench = try Bench()
        try await bench.settle()
        bench.store.write("one", to: "d/x")
        try await bench.settle()
        for (path, fields, errno) in [
            ("d", .contents, .noData), ("d/x", [.contents, .mode], .noData), ("d/x", [], .invalidArgument),
            ("", .mode, .invalidArgument),
            ("d/y", .mode, .noSuchFileOrDirectory),
        ] as [(String, ItemFields, Errno)] {
            await #expect(throws: errno) {
                try await bench.domain.requestModification(of: fields, at: Bench.names(path))
            }
        }
        try await bench.settle()
        #expect(bench.store.calls(of: .modifyItem).isEmpty)
    }

    /// So a store can exclude an item that it had: it is asked again, and rejects it.
    @Test func statement41_aStoreThatIsAskedAgainMayExclude() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        bench.store.fail(.modifyItem, with: .excludedFromSync)
        try await bench.domain.requestModification(of: .mode, at: Bench.names("x"))
        try await bench.settle()
        #expect(bench.store.entries.isEmpty)
        #expect(try bench.tree() == ["x": "one"])
    }

    /// In a store with a trash; more in `TrashTests`.
    @Test func statement65_theTrashIsAMoveThereAndBack() async throws {
        let bench = try await trashBench(keepsTrash: true)
        let item = bench.store.item(at: "d/x")
        try bench.rename("d/x", to: ".Trash-1000/files/x")
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["d"])
        try bench.rename(".Trash-1000/files/x", to: "d/x")
        try await bench.settle()
        #expect(bench.store.item(at: "d/x")?.identifier == item?.identifier)
        #expect(bench.store.calls(of: .modifyItem).map(\.fields) == [.parent, .parent])
        #expect(bench.store.calls(of: .modifyItem).map(\.template?.parent) == [.trash, item?.parent])
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
    }

    @Test func statement65_withoutATrashInTheStoreItIsAFolder() async throws {
        let bench = try await trashBench(keepsTrash: false)
        let item = bench.store.item(at: "d/x")
        try bench.rename("d/x", to: ".Trash-1000/files/x")
        try await bench.settle()
        #expect(bench.store.item(at: ".Trash-1000/files/x")?.identifier == item?.identifier)
        try bench.rename(".Trash-1000/files/x", to: "d/x")
        try await bench.settle()
        #expect(bench.store.item(at: "d/x")?.identifier == item?.identifier)
        #expect(bench.store.calls(of: .modifyItem).map(\.fields) == [.parent, .parent])
        let trash = bench.store.item(at: ".Trash-1000/files")?.identifier
        #expect(bench.store.calls(of: .modifyItem).map(\.template?.parent) == [trash, item?.parent])
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
    }

    private func trashBench(keepsTrash: Bool) async throws -> Bench {
        let store = MemoryStore()
        store.keepsTrash = keepsTrash
        let bench = try Bench(store: store)
        try bench.makeFolder("d")
        try bench.write("one", to: "d/x")
        try bench.makeFolder(".Trash-1000")
        try bench.makeFolder(".Trash-1000/files")
        try await bench.settle()
        return bench
    }
}
