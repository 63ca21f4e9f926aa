import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

/// A storage that has lost all its items is verified with the user, regardless of how few they were.
@Suite struct RootTests {
    /// A store that knows these files, and its anchor.
    private static func run(
        _ paths: [String], _ likeness: StorageLikeness = .atomic,
        _ body: (PathScratch, PathStore, SyncAnchor, Locked<Int64>) async throws -> Void
    ) async throws {
        let scratch = try likeness.scratch()
        for folder in Set(paths.compactMap { $0.split(separator: "/").dropLast().first }).sorted() {
            scratch.storage.add(.folder, at: String(folder))
        }
        for path in paths { scratch.storage.put(Array(path.utf8), at: path, attributes: PathAttributes()) }
        let clock = Locked<Int64>(1_000_000_000, rank: .innermost)
        let store = try open(scratch, clock)
        for item in try await store.all() where item.kind == .folder { _ = try await store.all(in: item.identifier) }
        let anchor = try await store.currentAnchor()
        clock.withLock { $0 += 60_000_000_000 }
        try await body(scratch, store, anchor, clock)
        try store.close()
    }

    private static func open(_ scratch: PathScratch, _ clock: Locked<Int64>) throws -> PathStore {
        try scratch.open { options in
            options.asksAboutRoot = true
            options.now = { clock.withLock { $0 } }
            options.sleep = { time in clock.withLock { $0 += time } }
        }
    }

    private static func expectAsked(_ body: () async throws -> Void) async throws {
        do { try await body() } catch RemoteStoreError.cannotSynchronize(let text) {
            #expect(text.contains("replica approve"))
            return
        }
        Issue.record("nobody is asked")
    }

    @Test(arguments: [["a", "b"], ["folder/file"], ["folder/file", "other/file", "x"]], StorageLikeness.all)
    func anEmptiedStorageNeedsApproval(_ paths: [String], _ likeness: StorageLikeness) async throws {
        try await Self.run(paths, likeness) { scratch, store, anchor, clock in
            let known = try await store.all()
            let roots = Set(paths.compactMap { $0.split(separator: "/").first }.map(String.init))
            for root in roots { scratch.storage.take(root) }
            try await Self.expectAsked { _ = try await store.enumerateChanges(from: anchor) }
            try await Self.expectAsked { try await store.recognize(anchor) }
            // No call considers an item gone, or creates one.
            for item in known {
                await #expect(throws: RemoteStoreError.serverUnreachable) { try await store.item(item.identifier) }
            }
            await #expect(throws: RemoteStoreError.serverUnreachable) {
                try await store.make(PathStore.template("new"))
            }
            await #expect(throws: RemoteStoreError.serverUnreachable) { try await store.all() }
            #expect(scratch.storage.entries.isEmpty)
            // Nor after a restart.
            try store.close()
            let next = try Self.open(scratch, clock)
            try await Self.expectAsked { try await next.recognize(anchor) }
            // The user confirms it.
            let accepted = try await next.currentAnchor()
            #expect(try await next.all().isEmpty)
            for item in known {
                await #expect(throws: RemoteStoreError.noSuchItem(item.identifier)) {
                    try await next.item(item.identifier)
                }
            }
            _ = try await next.enumerateChanges(from: accepted)
            try await next.make(PathStore.template("new"))
            try next.close()
        }
    }

    /// What was created since is all that is known of a storage that was empty when it was last listed.
    @Test(arguments: [[], ["former"]], StorageLikeness.all)
    func anInitiallyEmptyStorageNeedsApproval(_ former: [String], _ likeness: StorageLikeness) async throws {
        try await Self.run(former, likeness) { scratch, store, anchor, clock in
            for name in former {
                let item = try await store.child(name)
                try await store.deleteItem(item.identifier, base: item.version)
            }
            for name in ["a", "b"] { try await store.make(PathStore.template(name)) }
            clock.withLock { $0 += 60_000_000_000 }
            for name in ["a", "b"] { scratch.storage.take(name) }
            try await Self.expectAsked { _ = try await store.enumerateChanges(from: anchor) }
            try await Self.expectAsked { try await store.recognize(anchor) }
            await #expect(throws: RemoteStoreError.serverUnreachable) { try await store.make(PathStore.template("c")) }
        }
    }

    /// What was created right after the loss is on the wrong storage.
    @Test(arguments: StorageLikeness.all)
    func newItemsDoNotIdentifyTheStorage(_ likeness: StorageLikeness) async throws {
        try await Self.run([], likeness) { scratch, store, anchor, clock in
            let names = ["a", "b", "c", "d", "e", "f"]
            for name in names { try await store.make(name) }
            for name in names { scratch.storage.take(name) }
            // The last check is valid for a moment.
            for name in ["y", "z"] { try await store.make(name) }
            clock.withLock { $0 += 60_000_000_000 }
            try await Self.expectAsked { _ = try await store.enumerateChanges(from: anchor) }
        }
    }

    @Test func anUnknownStorageIsChecked() async throws {
        try await Self.run([]) { scratch, store, anchor, _ in
            try await store.recognize(anchor)
            scratch.storage.fail(.list, afterIt: false)
            await #expect(throws: RemoteStoreError.serverUnreachable) { try await store.recognize(anchor) }
        }
    }

    /// What programs put everywhere, and empty files, prove nothing, in the root and below.
    @Test(arguments: StorageLikeness.all) func commonFileNamesProveNothing(_ likeness: StorageLikeness) async throws {
        let paths = ["Photos/.DS_Store", "Photos/a", "Docs/.DS_Store", "Docs/b", ".profile", "x", "y"]
        try await Self.run(paths, likeness) { scratch, store, anchor, _ in
            for path in ["Photos", "Docs", ".profile", "x", "y"] { scratch.storage.take(path) }
            scratch.storage.add(.folder, at: "Movies")
            scratch.storage.put(Array(".profile".utf8), at: ".profile", attributes: PathAttributes())
            scratch.storage.put(Array("Photos/.DS_Store".utf8), at: "Movies/.DS_Store", attributes: PathAttributes())
            try await Self.expectAsked { _ = try await store.enumerateChanges(from: anchor) }
        }
    }

    /// Another client tidied up.
    @Test func aMovedStorageIsRecognized() async throws {
        try await Self.run(["a", "b", "c", "d", "e"]) { scratch, store, anchor, _ in
            scratch.storage.add(.folder, at: "Archive")
            for name in ["a", "b", "c", "d", "e"] {
                scratch.storage.take(name)
                scratch.storage.put(Array("other \(name)".utf8), at: "Archive/\(name)", attributes: PathAttributes())
            }
            _ = try await store.enumerateChanges(from: anchor)
        }
    }

    @Test func anotherStorageNeedsApproval() async throws {
        try await Self.run(["a", "b"]) { scratch, store, anchor, _ in
            for path in ["a", "b"] { scratch.storage.take(path) }
            scratch.storage.put(Array("another".utf8), at: "c", attributes: PathAttributes())
            try await Self.expectAsked { _ = try await store.enumerateChanges(from: anchor) }
        }
    }

    @Test func syncContinuesWhenTheItemsAreBack() async throws {
        try await Self.run(["a", "folder/b"]) { scratch, store, anchor, _ in
            let a = try await store.child("a")
            for path in ["a", "folder"] { scratch.storage.take(path) }
            try await Self.expectAsked { _ = try await store.enumerateChanges(from: anchor) }
            scratch.storage.add(.folder, at: "folder")
            scratch.storage.put(Array("folder/b".utf8), at: "folder/b", attributes: PathAttributes())
            scratch.storage.put(Array("a".utf8), at: "a", attributes: PathAttributes())
            try await store.recognize(anchor)
            let changes = try await store.enumerateChanges(from: anchor)
            #expect(changes.deleted.isEmpty)
            let now = try await store.item(a.identifier)
            #expect(now.filename == FileName("a"))
        }
    }

    /// Items created there before the detection don't hide it.
    @Test func newEntriesDoNotProveTheRoot() async throws {
        try await Self.run(["a", "b"]) { scratch, store, anchor, _ in
            // A check just before it was emptied is valid for a moment.
            try await store.make(PathStore.template("c"))
            for path in ["a", "b"] { scratch.storage.take(path) }
            try await store.make(PathStore.template("d"))
            try await Self.expectAsked { _ = try await store.enumerateChanges(from: anchor) }
        }
    }

    /// Nor after a restart.
    @Test func newEntriesProveNothingToTheNextRun() async throws {
        try await Self.run(["a", "b"]) { scratch, store, anchor, clock in
            try await store.make(PathStore.template("c"))
            for path in ["a", "b", "c"] { scratch.storage.take(path) }
            try await store.make(PathStore.template("d"))
            try store.close()
            let next = try Self.open(scratch, clock)
            try await Self.expectAsked { _ = try await next.enumerateChanges(from: anchor) }
            try next.close()
        }
    }

    /// A name that many disks have identifies none.
    @Test func aNameOnBothDisksProvesNothing() async throws {
        try await Self.run([".DS_Store", "#recycle/x", "a", "b", "folder/c"]) { scratch, store, anchor, clock in
            for path in [".DS_Store", "#recycle", "a", "b", "folder"] { scratch.storage.take(path) }
            scratch.storage.put(Array("another".utf8), at: ".DS_Store", attributes: PathAttributes())
            scratch.storage.add(.folder, at: "#recycle")
            await #expect(throws: RemoteStoreError.serverUnreachable) {
                try await store.make(PathStore.template("new"))
            }
            try await Self.expectAsked { _ = try await store.enumerateChanges(from: anchor) }
            clock.withLock { $0 += 60_000_000_000 }
            // All its files were changed, and nothing else.
            for path in ["a", "b"] { scratch.storage.put(Array("new".utf8), at: path, attributes: PathAttributes()) }
            try await store.recognize(anchor)
        }
    }

    /// Requesting an anchor before the engine was told, as happens after a kill, accepts nothing.
    @Test func anAnchorRequestedBeforeTheReportAcceptsNothing() async throws {
        try await Self.run(["a", "b"]) { scratch, store, anchor, _ in
            try await store.recognize(anchor)
            for path in ["a", "b"] { scratch.storage.take(path) }
            await #expect(throws: RemoteStoreError.serverUnreachable) { try await store.all() }
            try await Self.expectAsked { _ = try await store.currentAnchor() }
        }
    }

    /// An earlier check proves nothing about a present loss.
    @Test func anEarlierCheckProvesNothing() async throws {
        try await Self.run(["folder/a", "other/b"]) { scratch, store, anchor, clock in
            let folder = try await store.child("folder")
            clock.withLock { $0 += 100_000_000 }
            for path in ["folder", "other"] { scratch.storage.take(path) }
            await #expect(throws: RemoteStoreError.serverUnreachable) { try await store.item(folder.identifier) }
            try await Self.expectAsked { _ = try await store.enumerateChanges(from: anchor) }
        }
    }

    /// An entry that every disk has proves nothing.
    @Test func lostAndFoundDoesNotIdentifyADisk() async throws {
        try await Self.run(["lost+found/x", "a", "b"]) { scratch, store, anchor, _ in
            for path in ["a", "b"] { scratch.storage.take(path) }
            try await Self.expectAsked { _ = try await store.enumerateChanges(from: anchor) }
        }
    }

    @Test(arguments: StorageLikeness.all) func likelyChangesNeedNoApproval(_ likeness: StorageLikeness) async throws {
        // The last item is removed.
        try await Self.run(["a"], likeness) { scratch, store, anchor, _ in
            scratch.storage.take("a")
            let changes = try await store.enumerateChanges(from: anchor)
            #expect(changes.deleted.count == 1)
        }
        // The only folder is renamed.
        try await Self.run(["folder/b", "folder/c"], likeness) { scratch, store, anchor, _ in
            scratch.storage.move("folder", to: "renamed")
            let changes = try await store.enumerateChanges(from: anchor)
            #expect(changes.updated.contains { $0.filename == FileName("renamed") })
        }
        // Of many one stays.
        try await Self.run(["a", "b", "c", "d", "e", "f", "g"], likeness) { scratch, store, anchor, _ in
            for path in ["a", "b", "c", "d", "e", "f"] { scratch.storage.take(path) }
            let changes = try await store.enumerateChanges(from: anchor)
            #expect(changes.deleted.count == 6)
        }
    }
}
