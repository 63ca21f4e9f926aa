import CLinux
import Foundation
import Glibc
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import DirectoryStore

/// What others do in the middle of a call: the progress of a copy and the writes to a sink are the moments.
@Suite(.serialized) struct RaceTests {
    let scratch: Scratch
    let store: DirectoryStore

    init() throws {
        scratch = try Scratch()
        store = try DirectoryStore(path: scratch.root)
    }

    private func writeTheirs(_ text: String = "them") {
        let file = URL(fileURLWithPath: "\(scratch.root)/file")
        #expect(throws: Never.self) { try Data(text.utf8).write(to: file) }
    }

    private func content() -> String {
        String(decoding: FileManager.default.contents(atPath: "\(scratch.root)/file") ?? Data(), as: UTF8.self)
    }

    /// A folder that was renamed, be it by a call of ours on another thread, is found before the index has heard of it: what is
    /// in it is not gone.
    @Test func itemsInAFolderBeingRenamedAreFound() async throws {
        let folder = try await store.make("folder")
        let deleted = try await store.make("deleted", "text", in: folder.identifier)
        let changed = try await store.make("changed", "text", in: folder.identifier)
        for listed in [ItemIdentifier.root, folder.identifier] { _ = try await store.all(in: listed) }
        let places = ["folder", "renamed"].map { EntryPlace(parent: .root, name: FileName($0)) }
        let tree = store.tree
        tree.index.withLock { $0.begin(places) }
        defer { tree.index.withLock { _ = $0.end(places) } }
        #expect(rename("\(scratch.root)/folder", "\(scratch.root)/renamed") == 0)
        // Another has its name already.
        #expect(mkdir("\(scratch.root)/folder", 0o755) == 0)
        try await store.deleteItem(deleted.identifier, base: deleted.version)
        _ = try await store.rewrite(changed, "other text")
        _ = try await store.make("new", "text", in: folder.identifier)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: "\(scratch.root)/renamed").sorted() == [
                "changed", "new",
            ])
    }

    /// However often a folder moves while changes are looked at, what is new in it is told in the end.
    @Test func newItemsInAFolderBeingRenamedAreReported() async throws {
        let folder = try await store.make("folder")
        for listed in [ItemIdentifier.root, folder.identifier] { _ = try await store.all(in: listed) }
        let anchor = try await store.currentAnchor()
        let root = scratch.root
        let file = URL(fileURLWithPath: "\(root)/folder/new")
        try Data("text".utf8).write(to: file)
        try store.tree.drain()
        let places = ["folder", "renamed"].map { EntryPlace(parent: .root, name: FileName($0)) }
        store.tree.index.withLock { $0.begin(places) }
        #expect(rename("\(root)/folder", "\(root)/renamed") == 0)
        let batch = try await store.enumerateChanges(from: anchor)
        #expect(batch.updated.isEmpty && batch.deleted.isEmpty)
        store.tree.index.withLock { _ = $0.end(places) }
        let told = try await store.changes(from: batch.anchor) { updated, _ in updated.count == 2 }
        #expect(Set(told.updated.values.map(\.filename.description)) == ["renamed", "new"])
        #expect(told.deleted.isEmpty)
    }

    @Test func aNameTakenDuringTheCopyIsACollision() async throws {
        await expectFailure("filenameCollision") { try await store.make("file", "ours") { writeTheirs() } }
        #expect(content() == "them")
    }

    /// A few bytes are written without a look at the name, more with one: neither stays where the name is taken.
    @Test(arguments: [1, 200_000]) func aTakenNameKeepsItsFile(_ size: Int) async throws {
        writeTheirs()
        let ours = String(repeating: "o", count: size)
        await expectFailure("filenameCollision") { try await store.make("file", ours) }
        #expect(content() == "them")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.root) == ["file"])
    }

    /// A file that can't be written there, as on a full disk, does not hide that its name is taken.
    @Test func aTakenNameIsFoundInAReadOnlyFolder() async throws {
        writeTheirs()
        let create = { [store] (name: String) async throws in
            let template = ItemTemplate(
                identifier: ItemIdentifier("template"), parent: .root, filename: FileName(name), kind: .file)
            try await ItemContents.with([1]) { contents async throws(RemoteStoreError) in
                let short = ItemContents(file: contents.file, size: 2)
                _ = try await store.createItem(basedOn: template, fields: .contents, contents: short, options: [])
            }
        }
        await expectFailure("filenameCollision") { try await create("file") }
        await expectFailure("cannotSynchronize") { try await create("free") }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.root) == ["file"])
    }

    /// A file has two names for a moment while it is given one by a link. Who finds its name taken just then is told so.
    @Test func aNameTakenByAHardLinkIsACollision() async throws {
        writeTheirs()
        let (path, other) = ("\(scratch.root)/file", "\(scratch.root)/other")
        let relink: @Sendable () -> Void = {
            link(path, other)
            unlink(other)
        }
        await whileRepeating(relink) {
            for _ in 0..<300 { await expectFailure("filenameCollision") { try await store.make("file", "ours") } }
        }
    }

    @Test func aWriteDuringTheCopyIsAConflict() async throws {
        let base = try await store.make("file", "base")
        await expectFailure("versionConflict") { try await store.rewrite(base, "ours") { writeTheirs() } }
        #expect(content() == "them")
        #expect(try await store.all().count == 1)
    }

    @Test func aSafeSaveDuringTheCopyIsAConflict() async throws {
        let base = try await store.make("file", "base")
        let path = scratch.root
        await expectFailure("versionConflict") {
            try await store.rewrite(base, "ours") {
                #expect(throws: Never.self) { try Data("them".utf8).write(to: URL(fileURLWithPath: "\(path)/new")) }
                #expect(rename("\(path)/new", "\(path)/file") == 0)
            }
        }
        #expect(content() == "them")
        #expect(try FileManager.default.contentsOfDirectory(atPath: path) == ["file"])
    }

    /// What replaces a file is told together with the end of that: never do two items stand at one place.
    @Test func aReplacedFileIsReportedWithItsReplacement() async throws {
        let (root, beside) = (scratch.root, "\(scratch.path)/beside")
        let files = (0..<20).map { "f\($0)" }
        for name in files { try await ShellClient(root: root).write([0], to: name) }
        var anchor = try await store.currentAnchor()
        var known: [ItemIdentifier: FileName] = [:]
        for item in try await store.all() { known[item.identifier] = item.filename }
        let isDone = Locked(false)
        let others = Task.detached {
            for turn in 0..<2_000 {
                try Data("\(turn)".utf8).write(to: URL(fileURLWithPath: beside))
                #expect(rename(beside, "\(root)/\(files[turn % 7 + turn % 13])") == 0)
            }
            isDone.withLock { $0 = true }
        }
        while true {
            let wasDone = isDone.withLock { $0 }
            let batch = try await store.enumerateChanges(from: anchor)
            for identifier in batch.deleted { known[identifier] = nil }
            for item in batch.updated { known[item.identifier] = item.filename }
            #expect(Set(known.values).count == known.count)
            anchor = batch.anchor
            if wasDone && !batch.moreComing { break }
        }
        try await others.value
        #expect(known.count == files.count)
    }

    @Test func aDeleteDuringTheCopyIsNoSuchItem() async throws {
        let base = try await store.make("file", "base")
        let path = scratch.root
        await expectFailure("noSuchItem") {
            try await store.rewrite(base, "ours") { #expect(unlink("\(path)/file") == 0) }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
    }

    @Test func aMoveDuringTheCopyIsNotADeletion() async throws {
        let base = try await store.make("file", "base")
        let root = scratch.root
        await expectFailure("serverUnreachable") {
            try await store.rewrite(base, "ours") { #expect(rename("\(root)/file", "\(root)/moved") == 0) }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: root) == ["moved"])
    }

    /// Calls a rename of others again and again for two seconds, and a body meanwhile, whose errors must be of passing trouble.
    private func whileRenaming(
        _ old: String, _ new: String, _ flags: UInt32, _ body: () async throws(RemoteStoreError) -> Void
    ) async {
        let places = Locked([old, new])
        let move: @Sendable () -> Void = {
            places.withLock { places in
                if renameat2(AT_FDCWD, places[0], AT_FDCWD, places[1], flags) == 0 { places.reverse() }
            }
        }
        await whileRepeating(move) {
            let end = ContinuousClock.now + .seconds(2)
            var codes: Set<String> = []
            while ContinuousClock.now < end {
                do throws(RemoteStoreError) { try await body() } catch { codes.insert(error.code) }
            }
            #expect(codes.isSubset(of: ["itemUnavailable", "serverUnreachable"]))
        }
    }

    /// Has a program do something again and again while `body` runs.
    private func whileRepeating(_ step: @escaping @Sendable () -> Void, _ body: () async -> Void) async {
        let (isOver, hasEnded) = (Locked(false), Latch())
        // A thread of its own: the tasks of other tests have only so many.
        let isStarted = Thread.run {
            while !isOver.withLock({ $0 }) { step() }
            hasEnded.open()
        }
        #expect(isStarted)
        await body()
        isOver.withLock { $0 = true }
        if isStarted { hasEnded.wait() }
    }

    private func setMode(_ mode: UInt16, of item: Item) async throws(RemoteStoreError) {
        var template = ItemTemplate(
            identifier: item.identifier, parent: item.parent, filename: item.filename, kind: .file)
        template.metadata.mode = mode
        let result = try await store.modifyItem(template, base: item.version, changedFields: .mode, contents: nil)
        #expect(result.item?.identifier == item.identifier)
    }

    /// That an item was nowhere where it was just seen is no proof that it is gone.
    @Test func aConstantlyMovingItemIsNeverMissing() async throws {
        for folder in ["one", "two"] { #expect(mkdir("\(scratch.root)/\(folder)", 0o755) == 0) }
        for number in 0..<100 { #expect(mkdir("\(scratch.root)/one/\(number)", 0o755) == 0) }
        let item = try await store.make("file", "text")
        #expect(rename("\(scratch.root)/file", "\(scratch.root)/one/file") == 0)
        let places = ["one", "two"].map { "\(scratch.root)/\($0)/file" }
        await whileRenaming(places[0], places[1], 0) { () async throws(RemoteStoreError) in
            try await setMode(0o600, of: item)
        }
    }

    /// What takes the item's place in the middle of a call is neither changed nor taken for it.
    @Test func aReplacementIsNotMistakenForTheItem() async throws {
        let item = try await store.make("file", "text")
        _ = try await store.make("other", "other text")
        let root = scratch.root
        await whileRenaming("\(root)/file", "\(root)/other", 2) { () async throws(RemoteStoreError) in
            for mode: UInt16 in [0o600, 0o400] { try await setMode(mode, of: item) }
        }
        for name in ["file", "other"] {
            let path = "\(root)/\(name)"
            guard FileManager.default.contents(atPath: path) == Data("other text".utf8) else { continue }
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o644)
        }
    }

    @Test func aFolderDeletedDuringTheCopyIsAnError() async throws {
        let folder = try await store.make("folder")
        let path = scratch.root
        await #expect(throws: RemoteStoreError.self) {
            try await store.make("file", "ours", in: folder.identifier) {
                #expect(throws: Never.self) { try FileManager.default.removeItem(atPath: "\(path)/folder") }
            }
        }
        #expect(try await store.all().isEmpty)
    }

    @Test func aWriteDuringAFetchIsSeen() async throws {
        let file = try await store.make("file", "ours")
        let sink = ActingSink { writeTheirs() }
        await expectFailure("versionNoLongerAvailable") {
            _ = try await store.fetchContents(of: file.identifier, version: nil, range: nil, into: sink)
        }
    }

    @Test func newContentsKeepTheAttributesOfTheOldFile() async throws {
        var metadata = ItemMetadata()
        metadata.mode = 0o751
        metadata.tags = "red"
        metadata.favoriteRank = 7
        metadata.lastUsedDate = Timestamp(nanoseconds: 5)
        metadata.extendedAttributes = ["user.note": [1, 2, 3]]
        let fields: ItemFields = [.place, .mode, .tags, .lastUsedDate, .favoriteRank, .extendedAttributes]
        let old = try await store.make("file", "old", fields: fields, metadata: metadata)
        let new = try await store.rewrite(old, "new")
        metadata.modificationDate = new.metadata.modificationDate
        #expect(new.metadata == metadata)
    }

    @Test func aCancelledCallEnds() async throws {
        let file = try await store.make("file", "text")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.text(file)
        }
        await expectFailure("cancelled") { _ = try await task.value }
    }
}

/// A sink that does something when bytes arrive.
private struct ActingSink: ContentSink {
    let act: @Sendable () -> Void

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(RemoteStoreError) { act() }
}
