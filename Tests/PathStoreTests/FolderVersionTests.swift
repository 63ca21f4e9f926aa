import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing

/// Folders whose versions cover everything below them: only changed ones are listed, and no change is missed.
@Suite struct FolderVersionTests {
    private static func scratch(_ change: (inout PathStorageProperties) -> Void = { _ in }) throws -> PathScratch {
        var properties = PathStorageProperties()
        (properties.foldersTellChanges, properties.hasIdentities) = (true, true)
        change(&properties)
        let scratch = try PathScratch(properties)
        for folder in ["a", "a/inner", "b", "b/inner", "unseen"] { scratch.storage.add(.folder, at: folder) }
        for file in ["file", "a/file", "a/inner/file", "b/inner/file", "unseen/file"] {
            scratch.storage.put("text", at: file)
        }
        return scratch
    }

    /// Lists all folders except one, and polls until everything is known.
    private static func listed(_ store: PathStore) async throws -> SyncAnchor {
        for name in ["a", "b"] {
            let folder = try await store.child(name)
            _ = try await store.all(in: try await store.child("inner", in: folder.identifier).identifier)
        }
        return try await store.enumerateChanges(from: try await store.currentAnchor()).anchor
    }

    /// The calls of the storage until there are no more changes.
    private static func asked(
        _ scratch: PathScratch, _ store: PathStore, _ anchor: SyncAnchor
    ) async throws -> (calls: [String], updated: [Item], deleted: [ItemIdentifier]) {
        scratch.storage.clearCalls()
        let told = try await store.enumerateChanges(from: anchor)
        return (scratch.storage.calls.map { "\($0.method) \($0.path)" }, told.updated, told.deleted)
    }

    @Test func unchangedFoldersNeedOneRequest() async throws {
        let scratch = try Self.scratch()
        let anchor = try await Self.listed(try scratch.open { $0.wholeIntervalSeconds = 3_600 })
        // Also by the next process.
        let store = try scratch.open { $0.wholeIntervalSeconds = 3_600 }
        #expect(try await Self.asked(scratch, store, anchor).calls == ["entry "])
        scratch.storage.put("other", at: "unseen/file")
        // Its contents are unknown.
        #expect(try await Self.asked(scratch, store, anchor).calls == ["entry ", "list "])
        #expect(try await Self.asked(scratch, store, anchor).calls == ["entry "])
    }

    @Test func onlyChangedFoldersAreListed() async throws {
        let scratch = try Self.scratch()
        let store = try scratch.open { $0.wholeIntervalSeconds = 3_600 }
        let anchor = try await Self.listed(store)
        scratch.storage.put("other", at: "a/inner/file")
        let found = try await Self.asked(scratch, store, anchor)
        #expect(found.calls == ["entry ", "list ", "list a", "list a/inner"])
        #expect(found.updated.map(\.filename) == [FileName("file")] && found.deleted.isEmpty)
        #expect(try await Self.asked(scratch, store, try await store.currentAnchor()).calls == ["entry "])
    }

    @Test func movesByOthersAreFoundWithoutASearch() async throws {
        let scratch = try Self.scratch()
        let store = try scratch.open { $0.wholeIntervalSeconds = 3_600 }
        let anchor = try await Self.listed(store)
        let inner = try await store.child("inner", in: try await store.child("a").identifier)
        let file = try await store.child("file", in: inner.identifier)
        scratch.storage.move("a/inner/file", to: "b/moved")
        let found = try await Self.asked(scratch, store, anchor)
        #expect(found.updated.map(\.identifier) == [file.identifier] && found.deleted.isEmpty)
        #expect(!found.calls.contains("list b/inner"))
    }

    /// Skipped folders are visited again: their versions, and those above, are not recorded.
    @Test func limitedPollsMissNothing() async throws {
        let scratch = try Self.scratch()
        let store = try scratch.open { ($0.mostFolders, $0.wholeIntervalSeconds) = (1, 3_600) }
        var anchor = try await Self.listed(store)
        for file in ["a/inner/file", "b/inner/file"] { scratch.storage.put("other", at: file) }
        var (names, rounds) = ([ItemIdentifier](), 0)
        while names.count < 2, rounds < 10 {
            scratch.storage.clearCalls()
            let told = try await store.enumerateChanges(from: anchor)
            #expect(scratch.storage.calls.count { $0.method == .list } <= 3)
            names += told.updated.map(\.identifier)
            anchor = told.anchor
            rounds += 1
        }
        #expect(Set(names).count == 2 && rounds < 10)
    }

    @Test func unlistableFoldersAreRetried() async throws {
        let scratch = try Self.scratch()
        let store = try scratch.open { $0.wholeIntervalSeconds = 3_600 }
        let anchor = try await Self.listed(store)
        scratch.storage.put("other", at: "a/inner/file")
        scratch.storage.before = { call throws(PathStorageError) in
            if call.method == .list, call.path == StoragePath("a/inner") { throw .unavailable("not now") }
        }
        #expect(try await Self.asked(scratch, store, anchor).updated.isEmpty)
        scratch.storage.before = nil
        #expect(try await Self.asked(scratch, store, anchor).updated.count == 1)
    }

    /// Other attributes don't change versions.
    @Test func openFoldersAreListedRegularly() async throws {
        let scratch = try Self.scratch()
        let store = try scratch.open()
        let anchor = try await Self.listed(store)
        #expect(try await Self.asked(scratch, store, anchor).calls.contains("list a/inner"))
    }

    /// A write within the clock's grain leaves a folder's version as it was.
    @Test func inexactVersionsAreNotTrusted() async throws {
        let scratch = try Self.scratch { $0.changeGrain = 1_000 }
        let store = try scratch.open()
        let anchor = try await Self.listed(store)
        let found = try await Self.asked(scratch, store, anchor)
        #expect(found.calls.count { $0.hasPrefix("list") } == 5 && !found.calls.contains("entry "))
    }
}
