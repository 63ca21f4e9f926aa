import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// What a comparison makes of names after a power cut.
@Suite struct PowerCutScanTests {
    /// Two files that the store has.
    private func makeBench() async throws -> Bench {
        let bench = try Bench()
        try bench.makeFolder("d")
        try bench.write("moved", to: "d/f")
        try bench.write("replaced", to: "g")
        try await bench.settle()
        return bench
    }

    /// One gets the other's name, and the database is not told.
    private func renameOver(in bench: Bench) {
        let tree = bench.folders.tree.string
        #expect(rename(tree + "/d/f", tree + "/g") == 0)
    }

    /// Both were on the disk before: the rename came after that, and is what somebody did here.
    @Test func aRenameOverAFileThatTheDatabaseMissedIsOne() async throws {
        let bench = try await makeBench()
        try await bench.engine.makeDurable()
        renameOver(in: bench)
        try bench.cutPower()
        try await bench.settle()
        #expect(try bench.tree() == ["d/": nil, "g": "moved"])
        #expect(bench.store.entries.keys.sorted() == ["d", "g"])
        #expect(bench.store.text(at: "g") == "moved")
    }

    /// Another's file that is new here, in the name of one that was on the disk, is what somebody did as well.
    @Test func aSymlinkInAFilesPlaceIsOne() async throws {
        let bench = try await makeBench()
        try await bench.engine.makeDurable()
        #expect(unlink(bench.folders.tree.string + "/g") == 0)
        #expect(symlink("target", bench.folders.tree.string + "/g") == 0)
        try bench.cutPower()
        try await bench.settle()
        #expect(try bench.tree() == ["d/": nil, "d/f": "moved", "g": "target"])
        #expect(bench.store.entries.keys.sorted() == ["d", "d/f", "g"])
        #expect(bench.store.item(at: "g")?.kind == .symlink)
    }

    /// The tree may be older than the database: nothing is taken from the store for it, and nothing gets another name.
    @Test(arguments: [false, true])
    func whatMayBeOlderThanTheDatabaseComesUndone(_ isExchanged: Bool) async throws {
        let bench = try await makeBench()
        if isExchanged {
            try await bench.engine.makeDurable()
            try bench.exchangeTree()
        }
        renameOver(in: bench)
        try isExchanged ? bench.crash() : bench.cutPower()
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["d", "d/f", "g"])
        #expect(bench.store.text(at: "d/f") == "moved" && bench.store.text(at: "g") == "replaced")
        #expect(try await bench.read("d/f") == "moved")
        #expect(try await bench.read("g") == "replaced")
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
    }

    /// Writes over a file, syncs that, and changes it again; the database has learned of it all.
    private func syncAndCut(_ sizes: [Int64], in bench: Bench) async throws {
        let number = try bench.number("g")
        for size in sizes {
            var change = AttributeChange()
            change.size = size
            _ = try bench.replica.setAttributes(change, of: number)
            if size == sizes.first { bench.replica.noteSynced(number, size: size) }
            try bench.replica.record()
        }
        try bench.cutPower()
        try await bench.settle()
    }

    /// What was synced is an edit, however long the file became since.
    @Test(arguments: [([3], "rep"), ([3, 5], "rep\0\0"), ([5, 2], "re"), ([5, 0, 2], "\0\0")])
    func whatWasCutAfterItWasSyncedIsAnEdit(_ sizes: [Int64], _ content: String) async throws {
        let bench = try await makeBench()
        try await bench.engine.makeDurable()
        try await syncAndCut(sizes, in: bench)
        #expect(bench.store.text(at: "g") == content)
        #expect(try await bench.read("g") == content)
        #expect(bench.store.entries.keys.sorted() == ["d", "d/f", "g"])
    }

    /// But for an empty file that nobody synced: a program that writes it anew has just begun.
    @Test func whatWasEmptiedAfterItWasSyncedComesBack() async throws {
        let bench = try await makeBench()
        try await bench.engine.makeDurable()
        try await syncAndCut([5, 0], in: bench)
        #expect(bench.store.text(at: "g") == "replaced")
        #expect(try await bench.read("g") == "replaced")
    }

    /// What cannot be told is kept under the other name, which is new, and not once more beside it.
    @Test func aFileWithANewNameLeavesNoCopy() async throws {
        let bench = try await makeBench()
        try await bench.engine.makeDurable()
        let tree = bench.folders.tree.string
        #expect(link(tree + "/g", tree + "/saved") == 0)
        let file = open(tree + "/g", O_WRONLY | O_TRUNC)
        #expect(write(file, "anew", 4) == 4)
        close(file)
        try bench.cutPower()
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["d", "d/f", "g", "saved"])
        #expect(bench.store.text(at: "g") == "replaced" && bench.store.text(at: "saved") == "anew")
        #expect(try await bench.read("g") == "replaced")
        #expect(try await bench.read("saved") == "anew")
    }

    /// The database has not learned that the store was told of it.
    @Test func aSymlinkThatWasSentIsOne() async throws {
        let bench = try await makeBench()
        _ = try bench.replica.makeSymlink(FileName("l"), in: .root, target: Array("target".utf8), caller: Bench.caller)
        try bench.replica.record()
        bench.store.makeSymlink("l", to: "target")
        try bench.cutPower()
        // It is sent before the store is asked what it has.
        bench.pass(10)
        _ = await bench.engine.send()
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["d", "d/f", "g", "l"])
        #expect(try bench.tree().keys.sorted() == ["d/", "d/f", "g", "l"])
    }

    /// A name that is gone comes back as a file of its own: what is written to the one that is left is not in it.
    @Test(arguments: ["g", "saved"])
    func aNameThatComesBackIsAnotherFile(_ gone: String) async throws {
        let bench = try await makeBench()
        _ = try bench.replica.link(try bench.number("g"), as: FileName("saved"), in: .root)
        try await bench.settle()
        try await bench.engine.makeDurable()
        #expect(unlink(bench.folders.tree.string + "/" + gone) == 0)
        try bench.cutPower()
        try await bench.settle()
        let left = gone == "g" ? "saved" : "g"
        #expect(try bench.number("g") != bench.number("saved"))
        #expect(try await bench.read(gone) == "replaced")
        try bench.write("later", to: left)
        try await bench.settle()
        #expect(try await bench.read(gone) == "replaced" && bench.store.text(at: gone) == "replaced")
        #expect(try await bench.read(left) == "later" && bench.store.text(at: left) == "later")
    }

    @Test func whatComesBackHasItsAttributes() async throws {
        let bench = try await makeBench()
        for path in ["d", "g"] { try bench.setXattr("user.one", "value", of: path) }
        try await bench.settle()
        try await bench.engine.makeDurable()
        let tree = bench.folders.tree.string
        for path in ["d/f", "g"] { #expect(unlink(tree + "/" + path) == 0) }
        #expect(rmdir(tree + "/d") == 0)
        try bench.cutPower()
        try await bench.settle()
        for path in ["d", "g"] {
            let value = try bench.replica.xattr("user.one", of: try await bench.find(path))
            #expect(String(decoding: value, as: UTF8.self) == "value")
        }
    }
}
