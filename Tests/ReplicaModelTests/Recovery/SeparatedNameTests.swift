import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// One of a file's several names becomes a separate file, while the others are not loaded.
@Suite struct SeparatedNameTests {
    /// A file in a folder, with another name next to that folder.
    private func makeBench() async throws -> Bench {
        let bench = try Bench()
        try bench.makeFolder("d")
        try bench.write("one", to: "d/f")
        _ = try bench.replica.link(try bench.number("d/f"), as: FileName("l"), in: .root)
        try await bench.settle()
        #expect(try bench.number("d/f") == bench.number("l"))
        return bench
    }

    private func expectTwoFiles(_ bench: Bench) async throws {
        #expect(try bench.number("d/f") != bench.number("l"))
        #expect(try await bench.read("l") == "another")
        #expect(try await bench.read("d/f") == "one")
        #expect(bench.store.text(at: "l") == "another" && bench.store.text(at: "d/f") == "one")
    }

    private func replaceBelow(in bench: Bench) throws {
        let tree = bench.folders.tree.string
        try FileTree.make(tree, ["t": "another"])
        #expect(rename(tree + "/t", tree + "/l") == 0)
    }

    @Test func aNameReplacedBeforeACrashIsASeparateFile() async throws {
        let bench = try await makeBench()
        try replaceBelow(in: bench)
        try bench.crash()
        try await bench.settle()
        try await expectTwoFiles(bench)
    }

    /// Content that was not synced is in doubt, and kept in addition to the store's.
    @Test func aNameReplacedBeforeAPowerCutIsASeparateFile() async throws {
        let bench = try await makeBench()
        try await bench.engine.makeDurable()
        try replaceBelow(in: bench)
        try bench.cutPower()
        try await bench.settle()
        #expect(Set(try ["d/f", "l"].map { try bench.number($0) }).count == 2)
        for path in ["d/f", "l"] { #expect(try await bench.read(path) == "one") }
        let copy = try #require(try bench.tree().keys.first { $0.hasPrefix("l (conflict") })
        #expect(try await bench.read(copy) == "another" && bench.store.text(at: copy) == "another")
    }

    @Test(arguments: ["l", "d/f"])
    func aNameReplacedByTheStoreIsASeparateFile(_ path: String) async throws {
        let bench = try await makeBench()
        try bench.restart()
        bench.store.write(path == "l" ? "another" : "one", to: path)
        if path != "l" { bench.store.write("another", to: "l") }
        try await bench.settle()
        try await expectTwoFiles(bench)
    }
}
