import Foundation
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// Deletions of the store had moved files out of the tree, and the daemon or the machine stopped before the database recorded that.
@Suite struct AsideAfterPowerCutTests {
    /// A folder in a folder, each with a materialized file.
    /// - Parameters:
    ///   - count: The number of other files.
    ///   - isRecorded: Whether the database has recorded that the files are materialized.
    private func makeBench(besides count: Int = 0, isRecorded: Bool = true) async throws -> Bench {
        let store = MemoryStore()
        for index in 0..<count { store.write("\(index)", to: "f\(index)") }
        for path in ["d/x", "d/e/y"] { store.write("text of \(path)", to: path) }
        let bench = try Bench(store: store)
        try await bench.settle()
        for path in ["d/x", "d/e/y"] { _ = try await bench.read(path) }
        if isRecorded {
            try bench.replica.record()
            try await bench.engine.makeDurable()
        }
        store.clearCalls()
        return bench
    }

    /// Moves items out of the tree, as deletions do.
    private func moveOut(_ bench: Bench, _ paths: [String] = ["d/e/y", "d/e", "d/x", "d"]) throws {
        for path in paths {
            let number = try bench.number(path)
            let aside = "\(bench.folders.deleted.string)/\(number.rawValue)"
            #expect(rename("\(bench.folders.tree.string)/\(path)", aside) == 0)
        }
    }

    private let whole: [String: String?] = [
        "d/": nil, "d/e/": nil, "d/e/y": "text of d/e/y", "d/x": "text of d/x",
    ]

    /// After a power cut nothing proves the deletions: the items are moved back into the tree, with their contents.
    @Test func itemsSetAsideAreRestored() async throws {
        let bench = try await makeBench()
        try moveOut(bench)
        try bench.cutPower()
        #expect(try bench.tree() == whole)
        try await bench.settle()
        #expect(try bench.tree() == whole)
        #expect(bench.store.calls(of: .deleteItem).isEmpty && bench.store.calls(of: .createItem).isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.folders.deleted.string).isEmpty)
        #expect(try bench.kept().isEmpty)
    }

    /// If another file has taken the name, that file stays and the item's file is preserved in `kept/`.
    @Test func itemsWithoutAPlaceArePreserved() async throws {
        let bench = try await makeBench()
        try moveOut(bench, ["d/x"])
        try "another".write(toFile: bench.folders.tree.string + "/d/x", atomically: false, encoding: .utf8)
        try bench.cutPower()
        let kept = try bench.kept()
        #expect(kept.count == 1)
        let text = try String(
            contentsOfFile: bench.folders.kept.string + "/" + (kept.first ?? ""), encoding: .utf8)
        #expect(text == "text of d/x")
        try await bench.settle()
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
        let texts = bench.store.entries.values.map { String(decoding: $0.content, as: UTF8.self) }
        #expect(texts.contains("another") && texts.contains("text of d/x"))
    }

    /// If only the daemon was killed, the items are restored once the deletions are too many: each folder before its entries.
    @Test(arguments: [true, false]) func aKillWhileAFolderIsRestoredLosesNothing(_ isRecorded: Bool) async throws {
        let bench = try await makeBench(besides: 150, isRecorded: isRecorded)
        try moveOut(bench)
        try bench.crash()
        for path in ["d/e/y", "d/e", "d/x", "d"] { bench.store.delete(path) }
        bench.deleteFiles(0..<140)
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        let tree = try bench.tree()
        for (path, text) in whole { #expect(tree[path] == text, "\(path)") }
        #expect(tree.count == 154)
        #expect(try bench.kept().isEmpty)
        #expect(bench.store.calls(of: .createItem).isEmpty)
    }
}
