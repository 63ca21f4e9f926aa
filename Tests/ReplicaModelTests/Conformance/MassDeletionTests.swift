import Foundation
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// MODEL.md#deletion: more than half of a domain is never deleted without the user's approval.
@Suite struct MassDeletionTests {
    @Test func deletionsOfMoreThanHalfAreHeld() async throws {
        let bench = try await Bench.withFiles(150)
        bench.deleteFiles(0..<140)
        try await bench.exchange()
        #expect(try bench.tree().count == 150)
        let report = try bench.domain.report()
        #expect(report.state == .held)
        #expect(report.reason?.contains("140 items") == true)
        // That does not change by itself, nor by a restart.
        try bench.restart()
        try await bench.exchange()
        #expect(try bench.tree().count == 150)
        #expect(try bench.domain.report().state == .held)
        #expect(bench.domain.approve() == 140)
        try await bench.settle()
        #expect(try bench.tree().count == 10)
        #expect(try bench.domain.report().state == .idle)
        #expect(bench.store.calls(of: .createItem).isEmpty)
    }

    /// The files here are the last copies until a person decides.
    @Test(arguments: [false, true]) func heldItemsAreNeitherEvictedNorRemoved(afterARestart: Bool) async throws {
        let bench = try await Bench.withFiles(150)
        for index in 0..<150 { #expect(try await bench.read("f\(index)") == "\(index)") }
        try await bench.settle()
        bench.deleteFiles(0..<140)
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        if afterARestart { try bench.restart() }
        // Nor is any of them tried each time that the cache is trimmed.
        #expect(try bench.replica.evictionCandidates().count == 10)
        let eviction = try await bench.domain.evict([], isStrict: false)
        #expect(eviction.items == 10)
        #expect(eviction.refused.count == 140 && eviction.refused.allSatisfy { $0.reason == .deletedInStore })
        #expect(try await bench.domain.evict([], isStrict: true).refused.map(\.reason) == [.deletedInStore])
        #expect(try await bench.domain.forget([]).refused.count == 140)
        try bench.replica.close()
        let removal = try bench.folders.remove(keep: .dirty, name: "photos")
        #expect(removal.files == 140)
        for index in 0..<140 {
            let file = try #require(removal.preserved).appending("f\(index)")
            #expect(try String(contentsOfFile: file.string, encoding: .utf8) == "\(index)")
        }
    }

    /// A deletion of a folder is one of all that is in it.
    @Test func itemsInAHeldFolderAreNotEvicted() async throws {
        let store = MemoryStore()
        for index in 0..<150 { store.write("\(index)", to: "d/f\(index)") }
        let bench = try Bench(store: store)
        try await bench.settle()
        for index in 0..<150 { #expect(try await bench.read("d/f\(index)") == "\(index)") }
        try await bench.settle()
        store.delete("d")
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        let eviction = try await bench.domain.evict(Bench.names("d"), isStrict: false)
        #expect(eviction.items == 0 && eviction.refused.count == 150)
        #expect(eviction.refused.allSatisfy { $0.reason == .deletedInStore })
    }

    @Test func localChangesAreStillSent() async throws {
        let bench = try await Bench.withFiles(150)
        bench.deleteFiles(0..<150)
        try await bench.exchange()
        try bench.write("ours", to: "new")
        try await bench.exchange()
        #expect(bench.store.text(at: "new") == "ours")
        #expect(try bench.tree().count == 151)
    }

    @Test func anApprovalCountsOnce() async throws {
        let bench = try await Bench.withFiles(300)
        bench.deleteFiles(0..<160)
        try await bench.exchange()
        #expect(bench.domain.approve() == 160)
        try await bench.settle()
        #expect(try bench.tree().count == 140)
        bench.deleteFiles(160..<290)
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(try bench.tree().count == 140)
        #expect(bench.domain.approve() == 130)
        try await bench.settle()
        #expect(try bench.tree().count == 10)
    }

    @Test func deletionsOfFewItemsAreApplied() async throws {
        let few = try await Bench.withFiles(60)
        few.deleteFiles(0..<60)
        try await few.settle()
        #expect(try few.tree().isEmpty)
        let fewer = try await Bench.withFiles(250)
        fewer.deleteFiles(0..<110)
        try await fewer.settle()
        #expect(try fewer.tree().count == 140)
    }

    @Test func aDeletedFolderCountsWithItsItems() async throws {
        let store = MemoryStore()
        for index in 0..<150 { store.write("\(index)", to: "d/f\(index)") }
        let bench = try Bench(store: store)
        try await bench.settle()
        try await bench.domain.download(Bench.names("d"), waits: true)
        store.delete("d")
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(try bench.tree().count == 151)
    }

    /// One after the other, each applied before the next.
    @Test func deletionsBeforeTheLimitAreRestored() async throws {
        let bench = try await Bench.withFiles(300)
        for index in 0..<300 { #expect(try await bench.read("f\(index)") == "\(index)") }
        let before = try bench.tree()
        var gone = 0
        while gone < 299 {
            bench.deleteFiles(gone..<min(gone + 13, 299))
            gone = min(gone + 13, 299)
            try await bench.exchange()
            if try bench.domain.report().state == .held { break }
            #expect(try bench.tree().count < 300)
        }
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(try bench.tree() == before)
        // Also after a kill.
        try bench.crash()
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(try bench.tree() == before)
        bench.deleteFiles(gone..<299)
        try await bench.exchange()
        #expect(bench.domain.approve() == 299)
        try await bench.settle()
        #expect(try bench.tree() == ["f299": "299"])
        #expect(bench.store.calls(of: .createItem).isEmpty && bench.store.calls(of: .deleteItem).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folders.deleted.string).isEmpty)
    }

    @Test func restoredItemsAreUploadedAgain() async throws {
        let store = MemoryStore()
        for index in 0..<200 { store.write("\(index)", to: "d/f\(index)") }
        let bench = try Bench(store: store)
        try await bench.settle()
        for index in 0..<150 { #expect(try await bench.read("d/f\(index)") == "\(index)") }
        store.delete("d")
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(try bench.domain.restore() == Restoration(items: 151, left: 50))
        try await bench.exchange()
        for index in 0..<150 { #expect(store.text(at: "d/f\(index)") == "\(index)") }
        #expect(store.item(at: "d/f150") == nil)
        // Items that are in no listing are not removed without approval either.
        #expect(try bench.tree().count == 201)
        #expect(try bench.domain.report().state == .held)
        #expect(try bench.domain.restore() == Restoration(items: 0, left: 50))
        #expect(bench.domain.approve() == 50)
        try await bench.settle()
        #expect(try bench.tree().count == 151)
        #expect(try bench.domain.report().state == .idle)
    }

    /// rsync and programs that save write a new file of the old name.
    @Test func aReplacedFileIsNotADeletion() async throws {
        let bench = try await Bench.withFiles(300)
        for index in 0..<290 {
            // Reported in two answers: first as deleted, then as created.
            bench.store.delete("f\(index)")
            if index == 0 { await bench.engine.pull() }
            bench.store.write("new", to: "f\(index)")
        }
        try await bench.receive()
        #expect(try bench.domain.report().state != .held)
        #expect(try await bench.read("f0") == "new")
        try await bench.settle()
        #expect(try bench.tree().count == 300)
    }

    @Test func locallyRemovedItemsDoNotComeBack() async throws {
        let store = MemoryStore()
        for index in 0..<120 { store.write("\(index)", to: "d/f\(index)") }
        for index in 0..<120 { store.write("\(index)", to: "e/f\(index)") }
        let bench = try Bench(store: store)
        try await bench.settle()
        for name in ["d", "e"] {
            for index in 0..<120 { #expect(try await bench.read("\(name)/f\(index)") == "\(index)") }
        }
        for index in 0..<110 { store.delete("d/f\(index)") }
        try await bench.exchange()
        #expect(try bench.tree().count == 132)
        for index in 110..<120 { try bench.remove("d/f\(index)") }
        try bench.remove("d", isFolder: true)
        for index in 0..<120 { store.delete("e/f\(index)") }
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(try bench.tree()["d/"] == nil)
        #expect(try bench.tree().count == 121)
        // These bytes no longer exist anywhere else.
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folders.kept.string).count == 110)
    }

    /// A kill after an item was restored or set aside, but before that was recorded.
    @Test(arguments: [false, true]) func aKillDuringAMoveLosesNothing(isGivenBack: Bool) async throws {
        let bench = try await Bench.withFiles(150)
        for index in 0..<150 { #expect(try await bench.read("f\(index)") == "\(index)") }
        try bench.replica.record()
        bench.deleteFiles(0..<10)
        let (tree, deleted) = (bench.folders.tree.string, bench.folders.deleted.string)
        if isGivenBack {
            try await bench.exchange()
            #expect(try bench.tree().count == 140)
            let rows = try bench.replica.database.read { try SetAsideRows.all(in: $0) }
            for row in rows { #expect(rename("\(deleted)/\(row.number)", "\(tree)/\(row.name)") == 0) }
        } else {
            let number = try bench.number("f3").rawValue
            #expect(rename("\(tree)/f3", "\(deleted)/\(number)") == 0)
        }
        try bench.crash()
        bench.deleteFiles(10..<140)
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(try bench.tree().count == 150)
        for index in 0..<150 { #expect(try await bench.read("f\(index)") == "\(index)") }
        // Its deletion is not forgotten.
        #expect(bench.domain.approve() == 140)
        try await bench.settle()
        #expect(try bench.tree().count == 10)
        #expect(bench.store.calls(of: .createItem).isEmpty)
    }

    /// A dataless file is still dataless: otherwise its zeros would be served and sent.
    @Test func aKillDuringAMoveKeepsAPlaceholder() async throws {
        let bench = try await Bench.withFiles(150)
        bench.deleteFiles(0..<10)
        let (tree, deleted) = (bench.folders.tree.string, bench.folders.deleted.string)
        #expect(rename("\(tree)/f3", "\(deleted)/\(try bench.number("f3").rawValue)") == 0)
        try bench.crash()
        bench.deleteFiles(10..<140)
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(bench.replica.withTree { $0.root.children?[FileName("f3")]?.materialization } == .dataless)
        #expect(bench.store.calls(of: .modifyItem).isEmpty && bench.store.calls(of: .createItem).isEmpty)
    }

    /// It may have held the deletions, and the former size of the domain is unknown.
    @Test func anUnreadableWindowHoldsDeletions() async throws {
        let bench = try await Bench.withFiles(300)
        bench.deleteFiles(0..<40)
        try await bench.exchange()
        #expect(try bench.tree().count == 260)
        try bench.replica.database.write { try Meta.deletionWindow.write("{\"items\":", to: $0) }
        try bench.crash()
        bench.deleteFiles(40..<60)
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(try bench.tree().count == 300)
        #expect(bench.domain.approve() == 60)
        try await bench.settle()
        #expect(try bench.tree().count == 240)
    }

    @Test func approvingWithoutHeldDeletionsIsRefused() async throws {
        let bench = try await Bench.withFiles(3)
        #expect(bench.domain.approve() == nil)
        #expect(try bench.domain.restore() == nil)
    }

    @Test func withoutDeletionsNoWindowIsRecorded() async throws {
        let bench = try await Bench.withFiles(1)
        try bench.write("ours", to: "new")
        #expect(try bench.replica.hasDeletions() == false)
        #expect(bench.engine.judgeDeletions().kind == .free)
        #expect(bench.replica.hasChanges)
    }
}
