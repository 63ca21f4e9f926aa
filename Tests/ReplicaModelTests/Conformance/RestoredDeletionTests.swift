import Foundation
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// Items that the store's deletions removed before they were too many are restored unchanged.
@Suite struct RestoredDeletionTests {
    /// A bench whose files are all local, 30 in each of ten folders.
    private func makeBench() async throws -> Bench {
        let store = MemoryStore()
        for folder in 0..<10 {
            for index in 0..<30 { store.write("\(folder) \(index)", to: "d\(folder)/e/f\(index)") }
        }
        let bench = try Bench(store: store)
        try await bench.settle()
        for path in paths { _ = try await bench.read(path) }
        forgetAll(bench)
        return bench
    }

    /// A deleted item that the kernel knows keeps its number, and the restored item gets another.
    private func forgetAll(_ bench: Bench) {
        let known = bench.replica.withTree { tree in
            tree.items.values.filter { $0 !== tree.root && $0.lookups > 0 }.map { ($0.inodeNumber, $0.lookups) }
        }
        for (number, count) in known { bench.replica.forget(number, count: UInt64(count)) }
    }

    private var paths: [String] {
        (0..<10).flatMap { folder in (0..<30).map { "d\(folder)/e/f\($0)" } }
    }

    private var folders: [String] { (0..<10).flatMap { ["d\($0)", "d\($0)/e"] } }

    private func numbers(_ bench: Bench) throws -> [ItemNumber] {
        defer { forgetAll(bench) }
        return try (paths + folders).map(bench.number)
    }

    /// Deletes the folders one after the other in the store, each deletion applied before the next, until the user is
    /// asked.
    private func deleteUntilHeld(_ bench: Bench, _ exchange: () async throws -> Void) async throws {
        for folder in 0..<10 where try bench.domain.report().state != .held {
            #expect(try bench.tree()["d\(folder)/e/f0"] != nil)
            bench.store.delete("d\(folder)")
            try await exchange()
        }
        try await exchange()
        #expect(try bench.domain.report().state == .held)
    }

    /// - Parameter isKnown: Whether the kernel still knows the deleted items.
    @Test(arguments: [false, true]) func foldersAreRestoredWithTheirItems(isKnown: Bool) async throws {
        let bench = try await makeBench()
        let (tree, numbers) = (try bench.tree(), try numbers(bench))
        if isKnown { _ = try (paths + folders).map(bench.number) }
        let modes = try folders.map { try bench.status($0).st_mode }
        try await deleteUntilHeld(bench) {
            try await bench.exchange()
            if try bench.domain.report().state != .held { #expect(try bench.tree()["d0/"] == nil) }
        }
        #expect(try bench.tree() == tree)
        #expect(try bench.replica.database.read { try SetAsideRows.count(in: $0) } == 0)
        if !isKnown { #expect(try self.numbers(bench) == numbers) }
        #expect(try folders.map { try bench.status($0).st_mode } == modes)
        // It is unchanged for the database, too.
        try bench.crash()
        try await bench.exchange()
        #expect(try bench.tree() == tree)
        #expect(try bench.domain.report().state == .held)
        #expect(bench.store.calls(of: .createItem).isEmpty && bench.store.calls(of: .deleteItem).isEmpty)
        #expect(try bench.kept().isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folders.deleted.string).isEmpty)
    }

    /// A file was created in the place of a deleted one.
    @Test func newLocalItemsKeepTheirNamesInARestore() async throws {
        let bench = try await makeBench()
        bench.store.delete("d0/e/f3")
        try await bench.exchange()
        #expect(try bench.tree()["d0/e/f3"] == nil)
        try bench.write("ours", to: "d0/e/f3")
        for folder in 1..<10 { bench.store.delete("d\(folder)") }
        for _ in 0..<4 { try await bench.receive() }
        #expect(try bench.domain.report().state == .held)
        #expect(try bench.tree()["d0/e/f3"] == "ours")
        #expect(try bench.tree()["d0/e/f3 2"] == "0 3")
        #expect(try bench.tree()["d9/e/f29"] == "9 29")
    }

    /// An item whose name is taken by a file created below the mount stays set aside, also when no other deletion waits, and is
    /// restored once the name is free.
    @Test func failedRestoresAreRetried() async throws {
        let bench = try await Bench.withFiles(150)
        for index in 0..<150 { _ = try await bench.read("f\(index)") }
        bench.deleteFiles(0..<10)
        try await bench.exchange()
        #expect(try bench.tree().count == 140)
        let path = bench.folders.tree.string + "/f3"
        try "another".write(toFile: path, atomically: false, encoding: .utf8)
        bench.deleteFiles(10..<140)
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(try bench.tree()["f3"] == nil)
        // All others are uploaded again.
        _ = try bench.domain.restore()
        for _ in 0..<3 { try await bench.exchange() }
        #expect(bench.store.entries.count == 149)
        #expect(try bench.domain.report().state == .held)
        try FileManager.default.removeItem(atPath: path)
        bench.pass(20)
        try await bench.exchange()
        #expect(try bench.tree()["f3"] == "3")
    }

    /// Items that were set aside are removed when they can no longer become too many.
    @Test func aFewDeletionsBecomeFinal() async throws {
        let bench = try await makeBench()
        bench.store.delete("d0")
        try await bench.exchange()
        let deleted = bench.folders.deleted.string
        #expect(try FileManager.default.contentsOfDirectory(atPath: deleted).count == 32)
        try await bench.settle()
        #expect(try bench.tree().count == 288)
        #expect(try FileManager.default.contentsOfDirectory(atPath: deleted).isEmpty)
        #expect(try bench.replica.database.read { try SetAsideRows.count(in: $0) } == 0)
    }
}
