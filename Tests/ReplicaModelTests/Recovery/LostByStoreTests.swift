import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// A power cut of the store's disk, and here: changes that the store acknowledged but had not on its disk are lost
/// there.
@Suite struct LostByStoreTests {
    /// Two files and a folder with a file, all of which are on both disks.
    private func makeBench() async throws -> Bench {
        let bench = try Bench()
        try bench.makeFolder("d")
        for (path, text) in [("f", "one"), ("g", "other"), ("d/x", "text")] { try bench.write(text, to: path) }
        try await bench.settle()
        try await bench.engine.makeDurable()
        return bench
    }

    /// Cuts the power of both.
    /// - Parameter isHere: Whether the recorded state is on this disk.
    private func cut(_ bench: Bench, backTo moment: MemoryStore.Moment, isHere: Bool) async throws {
        if isHere { try bench.replica.syncTree(try #require(try bench.replica.beginSync())) }
        bench.store.goBack(to: moment)
        try bench.cutPower()
        try await bench.settle()
    }

    private func contents(_ store: MemoryStore) -> [String: String?] {
        store.entries.mapValues { $0.item.kind == .file ? String(decoding: $0.content, as: UTF8.self) : nil }
    }

    @Test(arguments: [true, false])
    func aDeletionIsSentAgain(_ isHere: Bool) async throws {
        let bench = try await makeBench()
        let moment = bench.store.moment
        for path in ["f", "d/x"] { try bench.remove(path) }
        try bench.remove("d", isFolder: true)
        try await bench.settle()
        #expect(contents(bench.store) == ["g": "other"])
        try await cut(bench, backTo: moment, isHere: isHere)
        #expect(contents(bench.store) == ["g": "other"])
        #expect(try bench.tree() == ["g": "other"])
    }

    /// The store also lost the edit that was sent before.
    @Test func aDeletionOfAnEditedItemIsSentAgain() async throws {
        let bench = try await makeBench()
        let moment = bench.store.moment
        try bench.write("longer", to: "f")
        try await bench.settle()
        try bench.remove("f")
        try await bench.settle()
        try await cut(bench, backTo: moment, isHere: true)
        #expect(contents(bench.store).keys.sorted() == ["d", "d/x", "g"])
        #expect(try bench.tree().keys.sorted() == ["d/", "d/x", "g"])
    }

    /// Another client's later change is not deleted because of that.
    @Test func newerContentInTheStoreIsApplied() async throws {
        let bench = try await makeBench()
        let moment = bench.store.moment
        try bench.remove("f")
        try await bench.settle()
        bench.store.goBack(to: moment)
        bench.store.write("theirs", to: "f")
        try bench.cutPower()
        try await bench.settle()
        #expect(bench.store.text(at: "f") == "theirs")
        #expect(try await bench.read("f") == "theirs")
    }

    @Test(arguments: [true, false])
    func aRenameOverAnotherIsSentAgain(_ isHere: Bool) async throws {
        let bench = try await makeBench()
        let moment = bench.store.moment
        try bench.rename("f", to: "g")
        try await bench.settle()
        try await cut(bench, backTo: moment, isHere: isHere)
        #expect(contents(bench.store) == ["d": nil, "d/x": "text", "g": "one"])
        #expect(try bench.tree() == ["d/": nil, "d/x": "text", "g": "one"])
    }

    /// To the former state, or to one in between.
    @Test(arguments: [true, false], [true, false])
    func anEditIsSentAgain(_ isHere: Bool, _ isBetween: Bool) async throws {
        let bench = try await makeBench()
        var moment = bench.store.moment
        for text in ["second", "third edit"] {
            if isBetween { moment = bench.store.moment }
            try bench.write(text, to: "f")
            try await bench.settle()
        }
        try await cut(bench, backTo: moment, isHere: isHere)
        #expect(contents(bench.store) == ["d": nil, "d/x": "text", "f": "third edit", "g": "other"])
        #expect(try bench.tree() == ["d/": nil, "d/x": "text", "f": "third edit", "g": "other"])
    }

    @Test(arguments: [true, false])
    func aMoveAndAModeAreSentAgain(_ isHere: Bool) async throws {
        let bench = try await makeBench()
        let moment = bench.store.moment
        try bench.rename("f", to: "d/f")
        try bench.rename("d", to: "e")
        var change = AttributeChange()
        change.mode = 0o640
        _ = try bench.replica.setAttributes(change, of: try bench.number("g"))
        try await bench.settle()
        try await cut(bench, backTo: moment, isHere: isHere)
        #expect(contents(bench.store) == ["e": nil, "e/f": "one", "e/x": "text", "g": "other"])
        #expect(try bench.tree() == ["e/": nil, "e/f": "one", "e/x": "text", "g": "other"])
        #expect(bench.store.item(at: "g")?.metadata.mode == 0o640)
    }

    /// The same for a change of another replica that the store lost.
    @Test func itemsFromTheStoreAreSentBack() async throws {
        let bench = try await makeBench()
        let moment = bench.store.moment
        bench.store.write("theirs", to: "f")
        try await bench.settle()
        #expect(try await bench.read("f") == "theirs")
        try await bench.settle()
        try await cut(bench, backTo: moment, isHere: true)
        #expect(contents(bench.store) == ["d": nil, "d/x": "text", "f": "theirs", "g": "other"])
        #expect(try bench.tree() == ["d/": nil, "d/x": "text", "f": "theirs", "g": "other"])
    }

    /// New items that the store lost entirely are uploaded again.
    @Test(arguments: [true, false])
    func newItemsAreSentAgain(_ isHere: Bool) async throws {
        let bench = try await makeBench()
        let moment = bench.store.moment
        try bench.makeFolder("e")
        for path in ["e/x", "n"] { try bench.write("new", to: path) }
        try await bench.settle()
        try await cut(bench, backTo: moment, isHere: isHere)
        let whole = ["d": nil, "d/x": "text", "e": nil, "e/x": "new", "f": "one", "g": "other", "n": "new"]
        #expect(contents(bench.store) == whole)
        #expect(try bench.tree().count == whole.count)
        for path in ["e/x", "n"] { #expect(try await bench.read(path) == "new") }
        #expect(try bench.kept().isEmpty)
    }

    /// The tree has lost the deletion too: it is undone on both sides.
    @Test func recreatedItemsAreNotDeleted() async throws {
        let bench = try await makeBench()
        let moment = bench.store.moment
        let tree = bench.folders.tree.string
        #expect(link(tree + "/f", bench.folders.root.string + "/saved") == 0)
        try bench.remove("f")
        try await bench.settle()
        #expect(rename(bench.folders.root.string + "/saved", tree + "/f") == 0)
        bench.store.clearCalls()
        try await cut(bench, backTo: moment, isHere: false)
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
        #expect(bench.store.text(at: "f") == "one")
        #expect(try await bench.read("f") == "one")
        #expect(try bench.tree().keys.sorted() == ["d/", "d/x", "f", "g"])
    }

    /// No state is kept of changes that are on the store's disk.
    @Test func durableStatesAreDropped() async throws {
        let bench = try await makeBench()
        let identifiers = ["f", "g"].compactMap { bench.store.item(at: $0)?.identifier }
        try bench.write("second", to: "f")
        try bench.remove("g")
        try await bench.settle()
        let count = {
            try bench.replica.database.read { rows in
                try identifiers.map { try SupersededRows.of($0, before: .max, in: rows).count }
            }
        }
        #expect(try count() == [1, 1])
        try await bench.engine.makeDurable()
        #expect(try count() == [0, 0])
    }

    /// Content that was synced before it was sent is an edit, although the store's older content is longer.
    @Test func syncedEditsAreSentAgain() async throws {
        let bench = try await makeBench()
        let moment = bench.store.moment
        var change = AttributeChange()
        change.size = 2
        let number = try bench.number("g")
        _ = try bench.replica.setAttributes(change, of: number)
        bench.replica.noteSynced(number, size: 2)
        try await bench.settle()
        #expect(bench.store.text(at: "g") == "ot")
        try await cut(bench, backTo: moment, isHere: false)
        #expect(bench.store.text(at: "g") == "ot")
        #expect(try await bench.read("g") == "ot")
    }
}
