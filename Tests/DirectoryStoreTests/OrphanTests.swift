import Foundation
import Glibc
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import DirectoryStore

/// What left its place for a folder that nobody listed, where no event tells that it came: it is not gone.
@Suite(.serialized) struct OrphanTests {
    let scratch: Scratch
    let store: DirectoryStore
    let other: ShellClient

    init() throws {
        scratch = try Scratch()
        store = try DirectoryStore(path: scratch.root)
        other = ShellClient(root: scratch.root)
    }

    /// Something new has its name when an older event has it looked at: the event that it moved is still to come. Of a folder
    /// that is not empty it is certain that it was not replaced.
    @Test func aSearchBeforeItsEventsProvesNothing() async throws {
        for folder in ["folder", "unlisted"] { try await other.makeFolder(folder) }
        try await other.write([1], to: "folder/file")
        let item = try await store.child("folder")
        _ = try await store.all()
        _ = try await store.all(in: item.identifier)
        let anchor = try await store.currentAnchor()
        try await other.move("folder", to: "unlisted/folder")
        try await other.write([2], to: "folder")
        let tree = store.tree
        tree.settle([EntryPlace(parent: .root, name: FileName("folder")): []], from: try tree.openRoot())
        let told = try await store.changes(from: anchor) { updated, _ in updated[item.identifier] != nil }
        #expect(told.deleted.isEmpty)
        #expect(told.updated.count == 2)
    }

    /// The same for a file, of which only the event says whether it was replaced or moved.
    @Test func aMissingFileIsDeletedOnlyByItsEvent() async throws {
        try await other.makeFolder("unlisted")
        try await other.write([1], to: "file")
        let item = try await store.child("file")
        _ = try await store.all()
        let anchor = try await store.currentAnchor()
        try await other.move("file", to: "unlisted/file")
        try await other.write([2], to: "file")
        let tree = store.tree
        try tree.draining.withLock { _ throws(RemoteStoreError) in
            tree.settle([EntryPlace(parent: .root, name: FileName("file")): []], from: try tree.openRoot())
        }
        let told = try await store.changes(from: anchor) { updated, _ in updated[item.identifier] != nil }
        #expect(told.deleted.isEmpty)
        #expect(told.updated.count == 2)
    }

    /// Nor is a search that it escapes: it goes from a folder not yet read to one already read.
    @Test func itemsMovedDuringTheSearchAreNotDeleted() async throws {
        for folder in ["one", "two"] { try await other.makeFolder(folder) }
        for number in 0..<100 { try await other.makeFolder("one/\(number)") }
        try await other.write([1], to: "file")
        let item = try await store.child("file")
        _ = try await store.all()
        let anchor = try await store.currentAnchor()
        let places = ["one/file", "two/file"].map { "\(scratch.root)/\($0)" }
        try await other.move("file", to: "one/file")
        let isOver = Locked(false)
        defer { isOver.withLock { $0 = true } }
        let hasEnded = Latch()
        // A thread of its own: the tasks of other tests have only so many.
        let isStarted = Thread.run {
            var number = 0
            while !isOver.withLock({ $0 }) || number % 2 == 1 {
                rename(places[number % 2], places[1 - number % 2])
                number += 1
            }
            hasEnded.open()
        }
        #expect(isStarted)
        // Far shorter than what can't be proved is waited for, also where one call takes long.
        let end = ContinuousClock.now + .seconds(1)
        while ContinuousClock.now < end {
            #expect(try await store.enumerateChanges(from: anchor).deleted.isEmpty)
        }
        isOver.withLock { $0 = true }
        hasEnded.wait()
        let told = try await store.changes(from: anchor) { updated, _ in updated[item.identifier] != nil }
        #expect(told.deleted.isEmpty)
    }

    /// A search finds it in a folder, which it leaves again before the folder is listed: no event reports that.
    @Test func anItemThatLeftAFolderBeforeItsListingIsSearchedFor() async throws {
        for folder in ["one", "two"] { try await other.makeFolder(folder) }
        try await other.write([1], to: "file")
        let item = try await store.child("file")
        _ = try await store.all()
        let one = try await store.child("one")
        let anchor = try await store.currentAnchor()
        try await other.move("file", to: "one/file")
        let folder = try #require(ItemKey(one.identifier))
        let key = try #require(ItemKey(item.identifier))
        let isFound = try await eventually {
            _ = try await store.currentAnchor()
            return store.tree.index.withLock { $0.orphans.isEmpty && $0.knownPlace(of: key)?.parent == folder }
        }
        #expect(isFound)
        try await other.move("one/file", to: "two/file")
        _ = try await store.all(in: one.identifier)
        let told = try await store.changes(from: anchor) { updated, _ in updated[item.identifier] != nil }
        #expect(told.deleted.isEmpty)
        #expect(told.updated[item.identifier]?.parent != one.identifier)
    }

    /// A search finds it in a folder whose listing then begins, and has not come to it yet: it is still there.
    @Test func anItemThatAListingHasNotReachedIsNotGone() async throws {
        try await other.makeFolder("folder")
        try await other.write([1], to: "file")
        let item = try await store.child("file")
        _ = try await store.all()
        let folder = try #require(ItemKey(try await store.child("folder").identifier))
        let key = try #require(ItemKey(item.identifier))
        let anchor = try await store.currentAnchor()
        try await other.move("file", to: "folder/file")
        let tree = store.tree
        let isFound = try await eventually {
            _ = try await store.currentAnchor()
            return tree.index.withLock { $0.knownPlace(of: key)?.parent == folder }
        }
        #expect(isFound)
        let isLost = tree.index.withLock { index in
            index.list(folder)
            return index.lose(key)
        }
        #expect(isLost)
        let told = try await store.changes(from: anchor) { updated, deleted in
            (updated[item.identifier] != nil || !deleted.isEmpty) && tree.index.withLock { $0.orphans.isEmpty }
        }
        #expect(told.deleted.isEmpty)
        #expect(tree.index.withLock { $0.isAt(EntryPlace(parent: folder, name: FileName("file")), item.identifier) })
    }

    /// A file, and a listed folder `above` with one that is not listed.
    /// - Returns: The file, and what is told after.
    private func fileAndFolder() async throws -> (item: Item, anchor: SyncAnchor) {
        try await other.write([1], to: "file")
        try await other.makeFolder("above")
        try await other.makeFolder("above/unlisted")
        let item = try await store.child("file")
        _ = try await store.all()
        _ = try await store.all(in: try await store.child("above").identifier)
        return (item, try await store.currentAnchor())
    }

    /// The folder that it went to can't be searched, for one above that moved as well.
    @Test func anUnreadableFolderProvesNothing() async throws {
        let (item, anchor) = try await fileAndFolder()
        try await other.move("file", to: "above/unlisted/file")
        let places = ["above", "moved"].map { EntryPlace(parent: .root, name: FileName($0)) }
        store.tree.index.withLock { $0.begin(places) }
        try await other.move("above", to: "moved")
        // Longer than what is between two places is waited for.
        let end = ContinuousClock.now + .milliseconds(400)
        while ContinuousClock.now < end {
            #expect(try await store.enumerateChanges(from: anchor).deleted.isEmpty)
        }
        store.tree.index.withLock { _ = $0.end(places) }
        let told = try await store.changes(from: anchor) { updated, _ in updated[item.identifier] != nil }
        #expect(told.deleted.isEmpty)
    }

    /// Nor for ever: a folder that can't be found holds no deletion up for good.
    @Test func deletionsAreEventuallyReported() async throws {
        let (item, anchor) = try await fileAndFolder()
        let places = ["above", "moved"].map { EntryPlace(parent: .root, name: FileName($0)) }
        store.tree.index.withLock { $0.begin(places) }
        defer { store.tree.index.withLock { _ = $0.end(places) } }
        try await other.move("above", to: "moved")
        try await other.move("file", to: "../elsewhere")
        let told = try await store.changes(from: anchor) { _, deleted in !deleted.isEmpty }
        #expect(told.deleted == [item.identifier])
    }
}
