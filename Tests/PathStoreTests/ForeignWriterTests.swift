import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

/// Other clients of the storage that write during a call, or within the grain of its clock.
@Suite struct ForeignWriterTests {
    typealias Strength = PathStorageProperties.Strength
    private static let strengths: [Strength] = [.atomic, .checked, .none]

    private static func scratch(_ strength: Strength) throws -> PathScratch {
        var properties = PathStorageProperties()
        properties.createStrength = strength
        properties.replaceStrength = strength
        properties.removeStrength = strength
        properties.moveStrength = strength
        return try PathScratch(properties)
    }

    /// A call during which another client writes: with an atomic condition the other content stays and the call returns
    /// it; otherwise the other content is lost, but never ours.
    @Test(arguments: strengths)
    func aWriteBeforeACreateIsKept(_ strength: Strength) async throws {
        let scratch = try Self.scratch(strength)
        let store = try scratch.open()
        scratch.storage.race(.write) { $0.put("theirs", at: "file") }
        if strength == .atomic {
            await expectFailure("filenameCollision") { try await store.make("file", "ours") }
        } else {
            try await store.make("file", "ours")
        }
        #expect(scratch.storage.text(at: "file") == (strength == .atomic ? "theirs" : "ours"))
        #expect(scratch.storage.casualties.isEmpty == (strength == .atomic))
    }

    @Test(arguments: strengths)
    func aWriteBeforeAWriteIsHandled(_ strength: Strength) async throws {
        let scratch = try Self.scratch(strength)
        let store = try scratch.open()
        let file = try await store.make("file", "old")
        scratch.storage.race(.write) { $0.put("theirs", at: "file") }
        if strength == .atomic {
            await expectFailure("versionConflict") { try await store.write("ours", to: file) }
        } else {
            try await store.write("ours", to: file)
        }
        #expect(scratch.storage.text(at: "file") == (strength == .atomic ? "theirs" : "ours"))
    }

    @Test(arguments: strengths)
    func aWriteBeforeARemovalIsHandled(_ strength: Strength) async throws {
        let scratch = try Self.scratch(strength)
        let store = try scratch.open()
        let file = try await store.make("file", "old")
        scratch.storage.race(.remove) { $0.put("theirs", at: "file") }
        if strength == .atomic {
            await expectFailure("deletionRejected") {
                try await store.deleteItem(file.identifier, base: file.version)
            }
        } else {
            try await store.deleteItem(file.identifier, base: file.version)
        }
        #expect(scratch.storage.text(at: "file") == (strength == .atomic ? "theirs" : nil))
    }

    @Test(arguments: strengths)
    func aWriteBeforeAMoveIsHandled(_ strength: Strength) async throws {
        let scratch = try Self.scratch(strength)
        let store = try scratch.open()
        let file = try await store.make("file", "ours")
        scratch.storage.race(.move) { $0.put("theirs", at: "target") }
        if strength == .atomic {
            await expectFailure("filenameCollision") { try await store.move(file, to: "target") }
        } else {
            try await store.move(file, to: "target")
        }
        #expect(scratch.storage.text(at: "target") == (strength == .atomic ? "theirs" : "ours"))
        #expect(scratch.storage.text(at: "file") == (strength == .atomic ? "ours" : nil))
    }

    /// Outside the window every strength keeps all clients' bytes.
    @Test(arguments: strengths)
    func aWriteBeforeTheCheckIsKept(_ strength: Strength) async throws {
        let scratch = try Self.scratch(strength)
        let store = try scratch.open()
        let file = try await store.make("file", "old")
        let other = try await store.make("other", "other")
        for name in ["file", "new"] { scratch.storage.put("theirs", at: name) }
        await expectFailure("filenameCollision") { try await store.make("new", "ours") }
        await expectFailure("versionConflict") { try await store.write("ours", to: file) }
        await expectFailure("deletionRejected") { try await store.deleteItem(file.identifier, base: file.version) }
        await expectFailure("filenameCollision") { try await store.move(other, to: "new") }
        for name in ["file", "new"] { #expect(scratch.storage.text(at: name) == "theirs") }
        #expect(scratch.storage.casualties.isEmpty)
    }

    // MARK: A coarse clock

    /// A storage whose clock has a grain of a second, with a virtual time that advances with waits.
    private struct Coarse {
        let scratch: PathScratch
        let store: PathStore
        let time: Locked<Int64>

        init() throws {
            var properties = PathStorageProperties()
            properties.changeGrain = 1_000_000_000
            scratch = try PathScratch(properties)
            let time = Locked<Int64>(10_000_000_000)
            self.time = time
            scratch.storage.now = { time.withLock { $0 } }
            store = try scratch.open { options in
                options.now = { time.withLock { $0 } }
                options.sleep = { duration in time.withLock { $0 += duration } }
            }
        }
    }

    @Test func aWriteWithinTheGrainIsAConflict() async throws {
        let coarse = try Coarse()
        let file = try await coarse.store.make("file", "ours")
        coarse.scratch.storage.put("them", at: "file")
        #expect(coarse.scratch.storage.present(StoragePath("file"))?.version == "t10-4")
        await expectFailure("versionConflict") { try await coarse.store.write("again", to: file) }
        #expect(coarse.scratch.storage.text(at: "file") == "them")
    }

    @Test func aWriteWithinTheGrainIsNotRemoved() async throws {
        let coarse = try Coarse()
        let file = try await coarse.store.make("file", "ours")
        coarse.scratch.storage.put("them", at: "file")
        await expectFailure("deletionRejected") {
            try await coarse.store.deleteItem(file.identifier, base: file.version)
        }
        #expect(coarse.scratch.storage.text(at: "file") == "them")
    }

    @Test func aWriteWithinTheClockGranularityIsReported() async throws {
        let coarse = try Coarse()
        let file = try await coarse.store.make("file", "ours")
        _ = try await coarse.store.all()
        let anchor = try await coarse.store.currentAnchor()
        coarse.scratch.storage.put("them", at: "file")
        // It can't be determined yet.
        #expect(try await coarse.store.changes(from: anchor).updated.isEmpty)
        coarse.time.withLock { $0 += 1_000_000_000 }
        let told = try await coarse.store.changes(from: anchor)
        #expect(told.updated[file.identifier].map { $0.version.content != file.version.content } == true)
    }

    /// No other client wrote: the content is read back once, and is unchanged.
    @Test func ownWritesAreReadBackOnce() async throws {
        let coarse = try Coarse()
        let file = try await coarse.store.make("file", "ours")
        _ = try await coarse.store.all()
        let anchor = try await coarse.store.currentAnchor()
        coarse.time.withLock { $0 += 2_000_000_000 }
        coarse.scratch.storage.clearCalls()
        for _ in 0..<3 { #expect(try await coarse.store.changes(from: anchor).updated.isEmpty) }
        #expect(try await coarse.store.item(file.identifier) == file)
        #expect(coarse.scratch.storage.calls.filter { $0.method == .read }.count == 1)
    }

    /// Another client's recent write is reported when no other write can produce the same version any more.
    @Test func foreignWritesAreReportedOnce() async throws {
        let coarse = try Coarse()
        _ = try await coarse.store.all()
        let anchor = try await coarse.store.currentAnchor()
        coarse.scratch.storage.put("one", at: "file")
        let told = try await coarse.store.changes(from: anchor)
        let item = try #require(told.updated.values.first)
        coarse.scratch.storage.put("two", at: "file")
        coarse.time.withLock { $0 += 5_000_000_000 }
        #expect(try await coarse.store.item(item.identifier).version != item.version)
    }

    // MARK: Moves

    @Test func aMovedFileIsRecognizedByAUniqueVersion() async throws {
        let scratch = try PathScratch()
        let store = try scratch.open()
        scratch.storage.put("text", at: "before")
        let file = try await store.child("before")
        let anchor = try await store.currentAnchor()
        scratch.storage.move("before", to: "after")
        let told = try await store.changes(from: anchor)
        #expect(told.deleted.isEmpty)
        let now = try #require(told.updated[file.identifier])
        #expect(now.filename == FileName("after"))
        // Equal versions at two paths need not mean equal bytes.
        #expect(now.version.content != file.version.content)
    }

    @Test func anAmbiguousVersionMatchesNoFile() async throws {
        let scratch = try PathScratch()
        let versions = Locked(["one": "same", "two": "same", "three": "same"])
        var lying = LyingStorage(storage: scratch.storage)
        @Sendable func alike(_ entry: PathEntry) -> PathEntry {
            var entry = entry
            entry.version = versions.withLock { $0[entry.path.description] } ?? entry.version
            return entry
        }
        lying.told = { _, entry in entry.map(alike) }
        lying.listed = { _, _, page in PathPage(entries: page.entries.map(alike), next: page.next) }
        let store = try PathStore(lying, folder: scratch.folder, options: .alwaysListing)
        scratch.storage.put("1111", at: "one")
        scratch.storage.put("2222", at: "two")
        let before = try await store.all().map(\.identifier)
        let anchor = try await store.currentAnchor()
        for name in ["one", "two"] { scratch.storage.take(name) }
        scratch.storage.put("3333", at: "three")
        let told = try await store.changes(from: anchor)
        #expect(told.deleted == Set(before))
        #expect(told.updated.values.map(\.filename) == [FileName("three")])
    }

    @Test func aMovedFolderKeepsItsItems() async throws {
        var properties = PathStorageProperties()
        properties.hasIdentities = true
        let scratch = try PathScratch(properties)
        let store = try scratch.open()
        for path in ["from", "from/inner", "to"] { scratch.storage.add(.folder, at: path) }
        scratch.storage.put("text", at: "from/inner/file")
        let (from, to) = (try await store.child("from"), try await store.child("to"))
        let inner = try await store.child("inner", in: from.identifier)
        let file = try await store.child("file", in: inner.identifier)
        _ = try await store.all(in: to.identifier)
        let anchor = try await store.currentAnchor()
        scratch.storage.move("from", to: "to/moved")
        let told = try await store.changes(from: anchor)
        #expect(told.deleted.isEmpty)
        #expect(told.updated[from.identifier]?.parent == to.identifier)
        #expect(try await store.item(file.identifier) == file)
        #expect(try await store.text(file) == "text")
    }

    /// An item that was moved unobserved, and is requested immediately, is found.
    @Test func movedItemsAreFoundAtTheirNewPlace() async throws {
        var properties = PathStorageProperties()
        properties.hasIdentities = true
        let scratch = try PathScratch(properties)
        let store = try scratch.open()
        scratch.storage.add(.folder, at: "to")
        scratch.storage.put("text", at: "file")
        let file = try await store.child("file")
        let to = try await store.child("to")
        _ = try await store.all(in: to.identifier)
        scratch.storage.move("file", to: "to/moved")
        try await store.write("newer", to: file)
        #expect(scratch.storage.text(at: "to/moved") == "newer")
        #expect(try await store.item(file.identifier).parent == to.identifier)
    }

    // MARK: How often

    @Test func onlyDueFoldersAreListed() async throws {
        let scratch = try PathScratch()
        let time = Locked<Int64>(0)
        let store = try scratch.open { options in
            (options.openIntervalSeconds, options.wholeIntervalSeconds, options.openForSeconds) = (30, 3_600, 600)
            options.now = { time.withLock { $0 } }
        }
        func listings() async throws -> Set<String> {
            scratch.storage.clearCalls()
            _ = try await store.enumerateChanges(from: try await store.currentAnchor())
            return Set(scratch.storage.calls.filter { $0.method == .list }.map(\.path.description))
        }
        let folder = try await store.makeFolder("folder")
        _ = try await store.all()
        _ = try await store.all(in: folder.identifier)
        #expect(try await listings().isEmpty)
        time.withLock { $0 += 31_000_000_000 }
        #expect(try await listings() == ["", "folder"])
        // Neither was used recently.
        time.withLock { $0 += 700_000_000_000 }
        #expect(try await listings().isEmpty)
        _ = try await store.all(in: folder.identifier)
        time.withLock { $0 += 31_000_000_000 }
        #expect(try await listings() == ["folder"])
        time.withLock { $0 += 3_600_000_000_000 }
        #expect(try await listings() == ["", "folder"])
        // Somebody waits for everything, once.
        store.pollEverything()
        #expect(try await listings() == ["", "folder"])
        #expect(try await listings().isEmpty)
        // A signalled folder is compared immediately.
        let signals = store.signals()
        scratch.storage.put("text", at: "folder/file")
        for await _ in signals { break }
        #expect(try await listings() == ["folder"])
    }
}
