import Foundation
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import DirectoryStore

@Suite(.serialized) struct FeedTests {
    let scratch: Scratch
    let store: DirectoryStore
    let other: ShellClient

    init() throws {
        scratch = try Scratch()
        store = try DirectoryStore(path: scratch.root)
        other = ShellClient(root: scratch.root)
    }

    @Test func ownChangesAreNotReported() async throws {
        _ = try await store.all()
        let anchor = try await store.currentAnchor()
        let folder = try await store.make("folder")
        for number in 0..<50 {
            var item = try await store.make("\(number)", "text", in: folder.identifier)
            item = try await store.rewrite(item, "other text")
            item = try await store.touch(item, Timestamp(seconds: Int64(number), nanoseconds: 0))
            if number % 2 == 0 {
                try await store.deleteItem(item.identifier, base: item.version)
            }
        }
        let gone = try await store.make("gone")
        let inner = try await store.make("inner", "text", in: gone.identifier)
        try await store.deleteItem(inner.identifier, base: inner.version)
        try await store.deleteItem(gone.identifier, base: gone.version)
        let told = try await store.changes(from: anchor, marker: "marker")
        #expect(told.updated.isEmpty, "\(told.updated.values.map(\.filename))")
        #expect(told.deleted.isEmpty)
    }

    /// Events come faster than they are taken in.
    @Test(.timeLimit(.minutes(10))) func aBusyWriterDoesNotHoldUpTheFeed() async throws {
        _ = try await store.all()
        let anchor = try await store.currentAnchor()
        let isDone = Locked(false)
        let written = Locked(0)
        let ended = AsyncStream<Void>.makeStream()
        Thread.detachNewThread { [root = scratch.root] in
            var count = 0
            while !isDone.withLock({ $0 }) {
                count += 1
                let path = "\(root)/\(count % 50)"
                _ = FileManager.default.createFile(atPath: path, contents: Data("\(count)".utf8))
                written.withLock { $0 = count }
            }
            ended.continuation.finish()
        }
        while written.withLock({ $0 }) < 5000 { _ = try await store.enumerateChanges(from: anchor) }
        isDone.withLock { $0 = true }
        for await _ in ended.stream {}
    }

    @Test func changesBelowOwnFoldersAreReported() async throws {
        _ = try await store.all()
        let folder = try await store.make("folder")
        let anchor = try await store.currentAnchor()
        try await other.write([1], to: "folder/theirs")
        let told = try await store.changes(from: anchor) { updated, _ in !updated.isEmpty }
        #expect(told.updated.values.map(\.parent) == [folder.identifier])
    }

    /// Whoever asked is in step with all that happened before: `replica wait` promises that.
    @Test func itemsThatLeftTheStoreAreReportedToTheNextCaller() async throws {
        try await other.write([1], to: "file")
        try await other.makeFolder("folder")
        let items = try await store.all()
        let anchor = try await store.currentAnchor()
        try await other.move("file", to: "../elsewhere")
        try await other.move("folder", to: "moved")
        try await other.delete("moved")
        let batch = try await store.enumerateChanges(from: anchor)
        #expect(Set(batch.deleted) == Set(items.map(\.identifier)))
    }

    @Test func aMoveToAnUnlistedFolderIsNotADeletion() async throws {
        try await other.makeFolder("unlisted")
        try await other.write([1], to: "file")
        let file = try await store.child("file")
        let unlisted = try await store.child("unlisted")
        let anchor = try await store.currentAnchor()
        try await other.move("file", to: "unlisted/file")
        let told = try await store.changes(from: anchor) { updated, deleted in
            updated[file.identifier]?.parent == unlisted.identifier || !deleted.isEmpty
        }
        #expect(told.deleted.isEmpty)
        #expect(try await store.item(file.identifier).parent == unlisted.identifier)
    }

    /// No event tells of a move from one folder that is not listed to another.
    @Test func aMoveBetweenUnlistedFoldersIsReported() async throws {
        for name in ["one", "two"] { try await other.makeFolder(name) }
        try await other.write([1], to: "file")
        let file = try await store.child("file")
        let two = try await store.child("two")
        let anchor = try await store.currentAnchor()
        try await other.move("file", to: "one/file")
        #expect(try await eventually { try await store.currentAnchor() != anchor })
        try await other.move("one/file", to: "two/file")
        let told = try await store.changes(from: anchor) { updated, _ in updated[file.identifier] != nil }
        #expect(told.updated[file.identifier]?.parent == two.identifier)
        #expect(told.deleted.isEmpty)
    }

    @Test func changesInAMovedFolderAreReported() async throws {
        for name in ["one", "two"] { try await other.makeFolder(name) }
        let folder = try await store.make("folder")
        _ = try await store.all()
        _ = try await store.all(in: folder.identifier)
        let anchor = try await store.currentAnchor()
        try await other.move("folder", to: "one/folder")
        #expect(try await eventually { try await store.currentAnchor() != anchor })
        try await other.move("one/folder", to: "two/folder")
        try await other.write([1], to: "two/folder/new")
        let told = try await store.changes(from: anchor) { updated, _ in
            updated.values.contains { $0.parent == folder.identifier }
        }
        #expect(told.updated.values.contains { $0.filename == FileName("new") })
        #expect(try await store.item(folder.identifier).parent == store.child("two").identifier)
    }

    /// No event tells of the name that a file had before it got a second one, nor of the last that is left.
    @Test func theOtherNameOfAHardLinkIsReported() async throws {
        try await other.write([1], to: "one")
        let first = try await store.child("one")
        let anchor = try await store.currentAnchor()
        try FileManager.default.linkItem(atPath: "\(scratch.root)/one", toPath: "\(scratch.root)/two")
        let linked = try await store.changes(from: anchor) { updated, _ in updated.count == 2 }
        #expect(linked.deleted == [first.identifier])
        for item in linked.updated.values { #expect(try await store.item(item.identifier) == item) }
        let middle = try await store.currentAnchor()
        try await other.delete("two")
        let left = try await store.changes(from: middle) { updated, _ in updated.count == 1 }
        #expect(left.updated.keys.contains(first.identifier))
        #expect(left.deleted == Set(linked.updated.keys))
        #expect(try await store.item(first.identifier).filename == FileName("one"))
    }

    @Test func aMoveOutOfTheTreeIsADeletion() async throws {
        let folder = try await store.make("folder")
        let file = try await store.make("file", "text", in: folder.identifier)
        _ = try await store.all()
        let anchor = try await store.currentAnchor()
        try FileManager.default.moveItem(atPath: "\(scratch.root)/folder", toPath: "\(scratch.path)/outside")
        let told = try await store.changes(from: anchor) { _, deleted in
            deleted.isSuperset(of: [folder.identifier, file.identifier])
        }
        #expect(told.updated.isEmpty)
        await expectFailure("noSuchItem") { _ = try await store.item(file.identifier) }
    }

    @Test func aFolderMovesWithItsListedEntries() async throws {
        let folder = try await store.make("folder")
        let file = try await store.make("file", "text", in: folder.identifier)
        _ = try await store.all()
        let anchor = try await store.currentAnchor()
        try await other.move("folder", to: "renamed")
        try await other.write(Array("newer".utf8), to: "renamed/new")
        let told = try await store.changes(from: anchor) { updated, _ in
            updated[folder.identifier] != nil && updated.count >= 2
        }
        #expect(told.updated[folder.identifier]?.filename == FileName("renamed"))
        #expect(told.deleted.isEmpty)
        #expect(try await store.text(try await store.item(file.identifier)) == "text")
    }

    @Test func aSafeSaveIsReported() async throws {
        let file = try await store.make("file", "old")
        _ = try await store.all()
        let anchor = try await store.currentAnchor()
        try await other.write(Array("new".utf8), to: "file~")
        #expect(rename("\(scratch.root)/file~", "\(scratch.root)/file") == 0)
        let told = try await store.changes(from: anchor) { updated, deleted in
            deleted.contains(file.identifier) && updated.values.contains { $0.filename == FileName("file") }
        }
        let new = try #require(told.updated.values.first { $0.filename == FileName("file") })
        #expect(try await store.text(new) == "new")
    }

    @Test func eachNameOfAHardLinkedFileIsAnItem() async throws {
        try await other.write(Array("text".utf8), to: "one")
        #expect(link("\(scratch.root)/one", "\(scratch.root)/two") == 0)
        let items = try await store.all()
        #expect(Set(items.map(\.identifier)).count == 2)
        let one = try await store.child("one")
        try await store.rewrite(one, "changed")
        #expect(try await other.content(at: "two") == Array("text".utf8))
        #expect(try await other.content(at: "one") == Array("changed".utf8))
    }

    @Test func rsyncIntoTheDirectoryIsReported() async throws {
        let source = "\(scratch.path)/source"
        for folder in 0..<5 {
            let path = "\(source)/folder \(folder)"
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            for file in 0..<20 { try Data("\(file)".utf8).write(to: URL(fileURLWithPath: "\(path)/\(file)")) }
        }
        _ = try await store.all()
        let anchor = try await store.currentAnchor()
        #expect(try run("rsync", "-a", "\(source)/", "\(scratch.root)/") == 0)
        let told = try await store.changes(from: anchor) { updated, _ in updated.count >= 5 }
        #expect(told.deleted.isEmpty)
        var count = 0
        for folder in told.updated.values { count += try await store.all(in: folder.identifier).count }
        #expect(count == 100)
        let second = try await store.currentAnchor()
        try Data("changed".utf8).write(to: URL(fileURLWithPath: "\(source)/folder 3/7"))
        #expect(try run("rsync", "-a", "\(source)/", "\(scratch.root)/") == 0)
        let changed = try await store.changes(from: second) { updated, _ in
            updated.values.contains { $0.filename == FileName("7") && $0.size == 7 }
        }
        let file = try #require(changed.updated.values.first { $0.filename == FileName("7") })
        #expect(try await store.text(file) == "changed")
    }

    @Test func lostEventsExpireTheAnchor() async throws {
        try await store.make("file", "text")
        _ = try await store.all()
        let anchor = try await store.currentAnchor()
        store.tree.index.withLock { $0.expire() }
        await expectFailure("syncAnchorExpired") { _ = try await store.enumerateChanges(from: anchor) }
        let file = try await store.child("file")
        let next = try await store.currentAnchor()
        try await other.delete("file")
        _ = try await store.changes(from: next) { _, deleted in deleted == [file.identifier] }
    }

    @Test func signalsAreSentUnasked() async throws {
        _ = try await store.all()
        let signals = store.signals()
        try await other.write([1], to: "file")
        for await _ in signals { break }
    }
}
