import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// The comparison of names after a power cut.
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

    /// One gets the other's name, without the database.
    private func renameOver(in bench: Bench) {
        let tree = bench.folders.tree.string
        #expect(rename(tree + "/d/f", tree + "/g") == 0)
    }

    /// Both were on the disk before: the rename came later, and was made by the user.
    @Test func anUnrecordedRenameOverAFileIsRecognized() async throws {
        let bench = try await makeBench()
        try await bench.engine.makeDurable()
        renameOver(in: bench)
        try bench.cutPower()
        try await bench.settle()
        #expect(try bench.tree() == ["d/": nil, "g": "moved"])
        #expect(bench.store.entries.keys.sorted() == ["d", "g"])
        #expect(bench.store.text(at: "g") == "moved")
    }

    /// A new file under the name of one that was on the disk was made by the user, too.
    @Test func aSymlinkThatReplacedAFileIsRecognized() async throws {
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

    /// The tree may be older than the database: nothing is deleted in the store, and nothing is renamed.
    @Test(arguments: [false, true])
    func possiblyOlderStatesAreUndone(_ isExchanged: Bool) async throws {
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

    /// Overwrites a file, syncs it, and changes it again; all of it is recorded.
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

    /// Synced content is an edit, regardless of the later size of the file.
    @Test(arguments: [([3], "rep"), ([3, 5], "rep\0\0"), ([5, 2], "re"), ([5, 0, 2], "\0\0")])
    func aTruncationAfterASyncIsAnEdit(_ sizes: [Int64], _ content: String) async throws {
        let bench = try await makeBench()
        try await bench.engine.makeDurable()
        try await syncAndCut(sizes, in: bench)
        #expect(bench.store.text(at: "g") == content)
        #expect(try await bench.read("g") == content)
        #expect(bench.store.entries.keys.sorted() == ["d", "d/f", "g"])
    }

    /// The answer about an earlier edit says nothing about the one that was made during the upload.
    @Test(arguments: [true, false])
    func bytesSyncedDuringAnUploadAreAnEdit(_ isSynced: Bool) async throws {
        let bench = try await makeBench()
        try await bench.engine.makeDurable()
        let (replica, number, isFirst) = (bench.replica, try bench.number("g"), Locked(true))
        @Sendable func cut(to size: Int64) throws(ReplicaError) {
            var change = AttributeChange()
            change.size = size
            _ = try replica.setAttributes(change, of: number)
        }
        bench.store.setHooks(before: { call throws(RemoteStoreError) in
            guard call.method == .modifyItem,
                isFirst.withLock({ isFirst in
                    defer { isFirst = false }
                    return isFirst
                })
            else { return }
            do throws(ReplicaError) { try cut(to: 3) } catch { throw .itemUnavailable("\(error)") }
            if isSynced { replica.noteSynced(number, size: 3) }
        })
        try cut(to: 5)
        bench.pass(400)
        _ = await bench.engine.send()
        #expect(try await eventually { bench.store.text(at: "g") == "repla" && !replica.hasUnansweredCalls })
        try replica.record()
        try bench.cutPower()
        try await bench.settle()
        #expect(bench.store.text(at: "g") == (isSynced ? "rep" : "repla"))
        #expect(bench.store.entries.keys.sorted() == ["d", "d/f", "g"])
    }

    /// The kernel passes writes through that no request reports, also after an upload.
    @Test func bytesOfASyncedWriterAreAnEdit() async throws {
        let bench = try await makeBench()
        let file = try bench.replica.open(try bench.number("g"), flags: O_WRONLY | O_SYNC)
        #expect(pwrite(file.descriptor, "uploaded", 8, 0) == 8)
        try await bench.settle()
        #expect(bench.store.text(at: "g") == "uploaded")
        try await bench.engine.makeDurable()
        #expect(pwrite(file.descriptor, "too late", 8, 0) == 8)
        close(file.descriptor)
        try bench.cutPower()
        try await bench.settle()
        #expect(bench.store.text(at: "g") == "too late")
        #expect(bench.store.entries.keys.sorted() == ["d", "d/f", "g"])
    }

    /// Except an empty file that was not synced: a program has just begun to rewrite it.
    @Test func anEmptiedFileIsRestored() async throws {
        let bench = try await makeBench()
        try await bench.engine.makeDurable()
        try await syncAndCut([5, 0], in: bench)
        #expect(bench.store.text(at: "g") == "replaced")
        #expect(try await bench.read("g") == "replaced")
    }

    /// Undecidable content is kept under the other name, which is new, and not in another copy.
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

    /// The database does not know that it was sent to the store.
    @Test func aSentSymlinkIsNotDuplicated() async throws {
        let bench = try await makeBench()
        _ = try bench.replica.makeSymlink(FileName("l"), in: .root, target: Array("target".utf8), caller: Bench.caller)
        try bench.replica.record()
        bench.store.makeSymlink("l", to: "target")
        try bench.cutPower()
        // It is sent before the store's state is requested.
        bench.pass(10)
        _ = await bench.engine.send()
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["d", "d/f", "g", "l"])
        #expect(try bench.tree().keys.sorted() == ["d/", "d/f", "g", "l"])
    }

    /// A file that was uploaded shortly before the power cut, which the database does not know, is the store's file of that name,
    /// even if its local bytes are lost.
    @Test(arguments: ["\0\0\0\0", "sent", "se", ""])
    func aSentFileIsNotDuplicated(_ left: String) async throws {
        let bench = try await makeBench()
        bench.store.write("sent", to: "n")
        let file = open(bench.folders.tree.string + "/n", O_WRONLY | O_CREAT, 0o644)
        #expect(write(file, left, left.utf8.count) == left.utf8.count)
        close(file)
        try bench.cutPower()
        bench.pass(10)
        _ = await bench.engine.send()
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["d", "d/f", "g", "n"])
        #expect(bench.store.text(at: "n") == "sent")
        #expect(try bench.tree().keys.sorted() == ["d/", "d/f", "g", "n"])
        #expect(try await bench.read("n") == "sent")
    }

    /// An edit whose content the store has already is not uploaded again.
    @Test func uploadedFilesAreNotSentAgain() async throws {
        let bench = try await makeBench()
        try await bench.engine.makeDurable()
        try bench.write("edited", to: "g")
        try bench.replica.record()
        bench.store.write("edited", to: "g")
        bench.store.clearCalls()
        try bench.cutPower()
        try await bench.settle()
        #expect(bench.store.calls(of: .modifyItem).allSatisfy { !$0.hasContents })
        #expect(bench.store.entries.keys.sorted() == ["d", "d/f", "g"])
        #expect(try await bench.read("g") == "edited")
    }

    /// A lost name comes back as a separate file: writes to the remaining name don't affect it.
    @Test(arguments: ["g", "saved"])
    func aReusedNameIsAnotherFile(_ gone: String) async throws {
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

    /// A file whose own name is gone, and which has one that the store does not know: the store's content comes back under
    /// the first, and the other keeps what was written and synced. Which of them the item is can't be told: an edit of
    /// only one of the names may be recorded.
    @Test(arguments: [true, false])
    func theRemainingNameKeepsItsEdit(_ isSynced: Bool) async throws {
        let bench = try await makeBench()
        try await bench.engine.makeDurable()
        let number = try bench.number("g")
        _ = try bench.replica.link(number, as: FileName("saved"), in: .root)
        if isSynced {
            var change = AttributeChange()
            change.size = 3
            _ = try bench.replica.setAttributes(change, of: number)
            bench.replica.noteSynced(number, size: 3)
        }
        try bench.replica.record()
        #expect(unlink(bench.folders.tree.string + "/g") == 0)
        try bench.cutPower()
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["d", "d/f", "g", "saved"])
        #expect(bench.store.text(at: "g") == "replaced")
        #expect(bench.store.text(at: "saved") == (isSynced ? "rep" : "replaced"))
        #expect(try await bench.read("g") == "replaced")
        #expect(try await bench.read("saved") == (isSynced ? "rep" : "replaced"))
    }

    @Test func restoredFilesHaveTheirAttributes() async throws {
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
