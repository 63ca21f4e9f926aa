import CLinux
import Foundation
import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// The comparison of tree and database at a start.
@Suite struct ScanTests {
    /// A placeholder whose mark can't be read would be a file of zeros.
    @Test func aMarkThatCannotBeReadIsAnError() throws {
        let bench = try Bench()
        let mark = bench.replica.withTree { $0.mark }
        let folder = bench.replica.withTree { $0.root.descriptor }
        try bench.write("text", to: "x")
        #expect(try !mark.isOn(BackingPath(folder: folder, name: FileName("x"))))
        let name = FileName(String(repeating: "x", count: 300))
        #expect(throws: Errno.fileNameTooLong) { try mark.isOn(BackingPath(folder: folder, name: name)) }
    }

    /// Absence is not deletion after a power cut (SEMANTICS, principle 2), even if the daemon is killed repeatedly during the
    /// comparison.
    @Test func anInterruptedCarefulScanStaysCareful() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try bench.write("text", to: "d/x")
        try bench.write("text", to: "y")
        try await bench.settle()
        try bench.exchangeTree()
        #expect(unlink(bench.folders.tree.string + "/d/x") == 0)
        #expect(unlink(bench.folders.tree.string + "/y") == 0)
        try bench.crash(scanning: false)
        try bench.crash(scanning: false)
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
        #expect(try await bench.read("d/x") == "text")
        #expect(try await bench.read("y") == "text")
    }

    /// A file emptied by a power cut is a placeholder for the store's content, also in the scan after the next crash:
    /// it has our mark.
    @Test func aPlaceholderEmptiedByAPowerCutStaysDataless() async throws {
        let bench = try Bench()
        try bench.write("precious", to: "doc")
        try await bench.settle()
        try bench.exchangeTree()
        #expect(truncate(bench.folders.tree.string + "/doc", 0) == 0)
        try bench.crash()
        let place = BackingPath(folder: bench.replica.withTree { $0.root.descriptor }, name: FileName("doc"))
        #expect(try bench.replica.withTree { $0.mark }.isOn(place))
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.text(at: "doc") == "precious")
        #expect(try await bench.read("doc") == "precious")
    }

    /// An edit is debounced before it is sent; a file found by an import is debounced from its last change, not from
    /// its discovery.
    @Test(arguments: [(10.0, ["old"]), (0.0, [])])
    func importedFilesAreDebouncedFromTheirLastChange(_ since: Double, _ sent: [String]) async throws {
        let bench = try Bench(scanning: false) { try FileTree.make($0, ["old": "text"]) }
        bench.clock.withLock { $0 = Date().timeIntervalSince1970 + since }
        try bench.replica.scan()
        _ = await bench.engine.send()
        #expect(bench.store.entries.keys.sorted() == sent)
    }

    @Test func afterACrashMissingItemsCountAsRemoved() async throws {
        let bench = try Bench()
        try bench.write("text", to: "y")
        try await bench.settle()
        #expect(unlink(bench.folders.tree.string + "/y") == 0)
        try bench.crash(scanning: false)
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.entries.isEmpty)
    }

    /// Nor a file without a mark: an empty file needs none.
    @Test func anUnfinishedListingIsRepeated() async throws {
        let bench = try Bench()
        for path in ["d/empty", "d/e/empty"] { bench.store.write("", to: path) }
        bench.store.write("theirs", to: "d/e/f")
        try await bench.settle()
        let folder = bench.folders.tree.string + "/d"
        try FileTree.make(folder, ["empty": "", "e/empty": "", "e/gone/empty": ""])
        #expect(symlink("anywhere", folder + "/e/link") == 0)
        try bench.crash()
        #expect(try await bench.read("d/e/f") == "theirs")
        #expect(try bench.tree().keys.sorted() == ["d/", "d/e/", "d/e/empty", "d/e/f", "d/empty"])
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["d", "d/e", "d/e/empty", "d/e/f", "d/empty"])
    }

    /// `cp -a` in the backing tree copies the mark, too.
    @Test func aFileWithACopiedMarkIsKept() async throws {
        let bench = try Bench()
        bench.store.write("theirs", to: "f")
        try await bench.settle()
        let tree = bench.folders.tree.string
        var mark = [UInt8](repeating: 0, count: 64)
        let length = getxattr(tree + "/f", OwnXattr.dataless, &mark, mark.count)
        for name in ["empty copy", "filled copy"] {
            try FileTree.make(tree, [name: name.hasPrefix("filled") ? "ours" : ""])
            #expect(setxattr(tree + "/" + name, OwnXattr.dataless, mark, length, 0) == 0)
        }
        try bench.crash()
        try await bench.settle()
        #expect(try bench.tree().keys.sorted() == ["f"])
        let kept = bench.folders.kept.string
        let names = try FileManager.default.contentsOfDirectory(atPath: kept)
        #expect(names.count == 1 && names.first?.hasSuffix(" filled copy") == true)
        #expect(try String(contentsOfFile: "\(kept)/\(names[0])", encoding: .utf8) == "ours")
    }

    /// Another program wrote it in the backing tree, without replacing the file.
    @Test(arguments: ["", "ours", "longer than theirs"])
    func afterACrashAResizedPlaceholderIsRestored(_ written: String) async throws {
        let bench = try Bench()
        bench.store.write("their text", to: "f")
        try await bench.settle()
        let file = open(bench.folders.tree.string + "/f", O_WRONLY | O_TRUNC)
        #expect(write(file, written, written.utf8.count) == written.utf8.count)
        close(file)
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.text(at: "f") == "their text")
        #expect(try await bench.read("f") == "their text")
        let kept = bench.folders.kept.string
        let names = try FileManager.default.contentsOfDirectory(atPath: kept)
        let contents = try names.map { try String(contentsOfFile: "\(kept)/\($0)", encoding: .utf8) }
        #expect(contents == (written.isEmpty ? [] : [written]))
    }

    @Test func afterACrashATruncatedPlaceholderIsSent() async throws {
        let bench = try Bench()
        bench.store.write("their text", to: "f")
        try await bench.settle()
        try bench.setAttributes(of: "f") { $0.size = 5 }
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.text(at: "f") == "their")
    }

    @Test func afterACrashThePlaceholdersTimesAreSent() async throws {
        let bench = try Bench()
        bench.store.write("theirs", to: "f")
        try await bench.settle()
        var change = AttributeChange()
        change.modified = .to(Timestamp(seconds: 1_000, nanoseconds: 1))
        _ = try bench.replica.setAttributes(change, of: try bench.number("f"))
        try bench.crash()
        try await bench.settle()
        let sent = bench.store.item(at: "f")?.metadata.modificationDate
        #expect(sent == Timestamp(seconds: 1_000, nanoseconds: 1))
        #expect(bench.store.calls(of: .fetchContents).isEmpty)
    }

    /// Also where nothing else changed in the folder.
    @Test func afterACrashAFoldersModeIsSent() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try await bench.settle()
        try bench.setAttributes(of: "d") { $0.mode = 0o750 }
        try bench.setXattr("user.one", "value", of: "d")
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.item(at: "d")?.metadata.mode == 0o750)
        #expect(bench.store.item(at: "d")?.metadata.extendedAttributes == ["user.one": Array("value".utf8)])
    }

    /// The new entry's times hide the change of the folder's attributes.
    @Test func afterACrashAFoldersAttributesAreSent() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try await bench.settle()
        try bench.setXattr("user.one", "value", of: "d")
        try bench.makeFolder("d/e")
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.item(at: "d")?.metadata.extendedAttributes == ["user.one": Array("value".utf8)])
    }

    /// The store reports `d/x`, which is then moved out; `d` is removed and, unrecorded before a crash, the file.
    private func moveOutAndRemoveAll(in bench: Bench) async throws {
        let item = try #require(bench.store.item(at: "d/x"))
        try bench.replica.noteIncoming(
            [Incoming(identifier: item.identifier, item: item, asked: bench.replica.answers)], anchor: nil)
        try bench.rename("d/x", to: "y")
        try bench.remove("d", isFolder: true)
        try bench.replica.record()
        #expect(unlink(bench.folders.tree.string + "/y") == 0)
        try bench.crash()
        try await bench.settle()
    }

    /// A report about an item's old place does not explain its absence at the new one.
    @Test func anItemMovedOutOfARemovedFolderAndRemovedIsGone() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try bench.write("text", to: "d/x")
        try await bench.settle()
        try await moveOutAndRemoveAll(in: bench)
        #expect(bench.store.entries.isEmpty)
        #expect(try bench.tree().isEmpty)
    }

    /// The same for a place to which we moved it with a call whose answer was lost.
    @Test func anItemSentIntoARemovedFolderIsGone() async throws {
        let store = MemoryStore()
        let faulty = FaultyStore(store)
        let bench = try Bench(store: store, through: faulty)
        try bench.makeFolder("d")
        try bench.write("text", to: "x")
        try await bench.settle()
        try bench.rename("x", to: "d/x")
        faulty.fail(.modifyItem, .after)
        bench.pass(10)
        _ = await bench.engine.send()
        #expect(faulty.isSpent && store.item(at: "d/x") != nil)
        try await moveOutAndRemoveAll(in: bench)
        #expect(store.entries.isEmpty)
        #expect(try bench.tree().isEmpty)
    }

    @Test func aDatabaseFromBeforeACleanStopIsDetected() async throws {
        let bench = try Bench()
        try await bench.settle()
        let recorded = try bench.replica.database.read { try Meta.epoch.read(from: $0) }
        try bench.restart()
        let epoch = try #require(try bench.replica.database.read { try Meta.epoch.read(from: $0) })
        #expect(try #require(UInt64(epoch)) == (try #require(recorded.flatMap { UInt64($0) })) + 2)
        #expect(!bench.replica.isScanning)
    }

    /// The store may already have an import's items, also if the import's comparison begins again.
    @Test func anInterruptedImportStillMatchesTheStoresItems() async throws {
        let store = MemoryStore()
        store.write("same", to: "a")
        let bench = try Bench(store: store, scanning: false) { try FileTree.make($0, ["a": "same", "b": "new"]) }
        try bench.crash()
        // Everything is sent before the store's state is requested.
        _ = await bench.engine.send()
        bench.pass(10)
        _ = await bench.engine.send()
        let options = store.calls(of: .createItem).map { CreateOptions(rawValue: $0.options) }
        #expect(options.count == 2 && options.allSatisfy { $0.contains(.mayAlreadyExist) })
        try await bench.settle()
        #expect(try bench.tree() == ["a": "same", "b": "new"])
        #expect(store.entries.keys.sorted() == ["a", "b"])
    }

    /// Differences are sent; items that only the store has appear here.
    @Test func matchedItemsGetTheLocalMetadata() async throws {
        let store = MemoryStore()
        store.write("same", to: "a")
        store.update("a") { metadata in
            metadata.mode = 0o700
            metadata.tags = "theirs"
        }
        let bench = try Bench(store: store) { path in
            try FileTree.make(path, ["a": "same"])
            #expect(chmod(path + "/a", 0o640) == 0)
        }
        try await bench.settle()
        #expect(store.item(at: "a")?.metadata.mode == 0o640)
        #expect(store.item(at: "a")?.metadata.tags == "theirs")
        let value = try bench.replica.xattr("user.xdg.tags", of: try bench.number("a"))
        #expect(String(decoding: value, as: UTF8.self) == "theirs")
        #expect(store.calls(of: .modifyItem).map(\.fields) == [.mode])
    }
}
