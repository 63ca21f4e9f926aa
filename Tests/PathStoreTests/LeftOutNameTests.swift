import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

/// What a storage has that has no valid path is counted by folder, as of the newest listing.
@Suite struct LeftOutNameTests {
    private func leftOut(_ store: PathStore) async throws -> LeftOutItems? {
        try await store.enumerateChanges(from: try await store.currentAnchor()).leftOut
    }

    /// An entry whose name is a path, as another client's key can be.
    private func forge(_ scratch: PathScratch, _ names: String...) {
        scratch.storage.forge(.file, at: StoragePath(names.map { FileName($0) }), content: [1])
    }

    @Test(arguments: [false, true]) func invalidNamesAreCounted(isDeep: Bool) async throws {
        var properties = PathStorageProperties()
        properties.listsDeep = isDeep
        let scratch = try PathScratch(properties)
        let store = try scratch.open()
        try await store.makeFolder("folder")
        try await store.make("good")
        _ = try await store.all()
        #expect(try await leftOut(store) == nil)
        forge(scratch, "folder", "a/b")
        forge(scratch, "folder", "..")
        #expect(try await leftOut(store)?.count == 2)
        #expect(try await leftOut(store)?.example.hasPrefix("folder/") == true)
        forge(scratch, "c/d")
        #expect(try await leftOut(store) == LeftOutItems(count: 3, example: "c/d"))
        // Another process knows it without a listing.
        try store.close()
        let again = try scratch.open()
        #expect(try await leftOut(again)?.count == 3)
        scratch.storage.take("folder")
        #expect(try await leftOut(again)?.count == 1)
    }

    @Test func theCountEndsWhenTheyAreRenamed() async throws {
        let scratch = try PathScratch()
        let names = Locked(LeftOutNames(count: 2, example: "/b"))
        let store = try store(scratch) { folder in folder == .root ? LeftOutNames() : names.withLock { $0 } }
        let folder = try await store.makeFolder("a")
        _ = try await store.all(in: folder.identifier)
        #expect(try await leftOut(store) == LeftOutItems(count: 2, example: "a//b"))
        try await store.move(folder, to: "moved")
        #expect(try await leftOut(store) == LeftOutItems(count: 2, example: "moved//b"))
        names.withLock { $0 = LeftOutNames() }
        #expect(try await leftOut(store) == nil)
    }

    /// A folder that is hidden by a file of its name, in another page of a listing.
    @Test func aHiddenFolderIsCounted() async throws {
        let scratch = try PathScratch()
        scratch.storage.put("text", at: "name")
        var lying = LyingStorage(storage: scratch.storage)
        lying.listed = { _, _, page in
            PathPage(
                entries: page.entries + page.entries + [PathEntry(path: StoragePath("name"), kind: .folder)],
                next: page.next)
        }
        let store = try PathStore(lying, folder: scratch.folder, options: .alwaysListing)
        #expect(try await store.all().map(\.kind) == [.file])
        #expect(try await leftOut(store) == LeftOutItems(count: 1, example: "name"))
    }

    @Test func anyNumberIsTaken() async throws {
        let scratch = try PathScratch()
        for number in 0..<3 { scratch.storage.add(.folder, at: "\(number)") }
        let store = try store(scratch) { folder in
            var names = LeftOutNames(count: .max, example: String(repeating: "ü", count: 5_000))
            names.add(LeftOutNames(count: .min, example: ""))
            for _ in 0..<3 { names.add("more", count: .max) }
            return names
        }
        for folder in try await store.all() { _ = try await store.all(in: folder.identifier) }
        let items = try #require(try await leftOut(store))
        #expect(items.count == 4_000_000_000 && items.example.utf8.count <= 500)
    }

    /// - Parameter names: What the listing of a folder leaves out.
    private func store(
        _ scratch: PathScratch, _ names: @escaping @Sendable (StoragePath) -> LeftOutNames
    ) throws -> PathStore {
        var lying = LyingStorage(storage: scratch.storage)
        lying.listed = { folder, _, page in
            PathPage(entries: page.entries, next: page.next, leftOut: names(folder))
        }
        return try PathStore(lying, folder: scratch.folder, options: .alwaysListing)
    }
}
