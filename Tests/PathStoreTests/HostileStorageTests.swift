import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

/// A storage with arbitrary contents: its answers affect nothing outside, are finite, and delete nothing.
@Suite struct HostileStorageTests {
    private static func store(
        _ scratch: PathScratch, _ change: (inout LyingStorage) -> Void
    ) throws -> PathStore {
        var lying = LyingStorage(storage: scratch.storage)
        change(&lying)
        var options = PathStoreOptions.alwaysListing
        options.mostEntries = 5_000
        return try PathStore(lying, folder: scratch.folder, options: options)
    }

    private static let badNames: [FileName] =
        [
            "", ".", "..", "a/b", "../escape", "nul\0nul", String(repeating: "x", count: 256),
            String(repeating: "y", count: 5_000),
        ]
        .map { FileName($0) }

    @Test(arguments: [false, true])
    func invalidNamesAreNotShown(_ isDeep: Bool) async throws {
        var properties = PathStorageProperties()
        properties.listsDeep = isDeep
        let scratch = try PathScratch(properties)
        let store = try scratch.open()
        let folder = try await store.makeFolder("folder")
        try await store.make("good")
        for name in Self.badNames {
            scratch.storage.forge(.file, at: StoragePath([name]))
            scratch.storage.forge(.folder, at: StoragePath([FileName("folder"), name]))
        }
        let bytes = FileName(bytes: [0xFF, 0xFE, 0x80])
        scratch.storage.forge(.file, at: StoragePath([bytes]), content: [1])
        _ = try await store.all(in: folder.identifier)
        #expect(try await store.all().map(\.filename) == [FileName("folder"), FileName("good"), bytes].sorted())
        let told = try await store.changes(from: try await store.currentAnchor())
        #expect(told.deleted.isEmpty)
        #expect(try await store.all(in: folder.identifier).isEmpty)
        for call in scratch.storage.calls {
            let isBelow = call.path.names.allSatisfy(\.isValid)
            #expect(isBelow, "\(call.method) was called about \(call.path)")
        }
    }

    @Test func entriesOfAnotherFolderAreIgnored() async throws {
        let scratch = try PathScratch()
        scratch.storage.add(.folder, at: "folder")
        scratch.storage.put("secret", at: "secret")
        let store = try Self.store(scratch) { lying in
            lying.listed = { folder, _, page in
                guard folder != .root else { return page }
                var page = page
                page.entries += [
                    PathEntry(path: StoragePath("secret"), kind: .file, version: "v1"),
                    PathEntry(path: StoragePath("folder/a/b"), kind: .file, version: "v1"),
                    PathEntry(path: .root, kind: .folder), PathEntry(path: folder, kind: .folder),
                    PathEntry(path: StoragePath([FileName("folder"), FileName(".."), FileName("x")]), kind: .file),
                ]
                return page
            }
        }
        let folder = try await store.child("folder")
        #expect(try await store.all(in: folder.identifier).isEmpty)
        #expect(try await store.names() == ["folder", "secret"])
    }

    @Test func aSecondEntryOfANameIsNotShown() async throws {
        let scratch = try PathScratch()
        scratch.storage.put("text", at: "file")
        let store = try Self.store(scratch) { lying in
            lying.listed = { _, _, page in
                var page = page
                page.entries += page.entries.map { entry in
                    var other = entry
                    (other.kind, other.version) = (.folder, nil)
                    return other
                }
                return page
            }
        }
        #expect(try await store.all().map(\.kind) == [.file])
    }

    /// All kinds of endless listings.
    enum Endless: CaseIterable, Sendable {
        case samePage, ringOfPages, emptyPages, oldEntries, newEntries
    }

    @Test(arguments: Endless.allCases)
    func anEndlessListingIsAnError(_ way: Endless) async throws {
        let scratch = try PathScratch()
        for number in 0..<3 { scratch.storage.put("text", at: "\(number)") }
        let honest = try scratch.open()
        let before = try await honest.all()
        try honest.close()
        let count = Locked(0)
        let store = try Self.store(scratch) { lying in
            lying.listed = { _, _, page in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                let token: [UInt8] =
                    switch way {
                    case .samePage: [0xFF]
                    case .ringOfPages: [0xFF, UInt8(number % 7)]
                    case .emptyPages, .oldEntries, .newEntries: [0xFF, UInt8(number >> 8 & 255), UInt8(number & 255)]
                    }
                var entries = way == .emptyPages ? [] : page.entries
                if way == .newEntries {
                    entries = (0..<100).map {
                        PathEntry(path: StoragePath("\(number) \($0)"), kind: .file, version: "v")
                    }
                }
                return PathPage(entries: entries, next: EnumerationPage(bytes: token))
            }
        }
        await expectFailure(way == .newEntries ? "itemUnavailable" : "serverUnreachable") { _ = try await store.all() }
        #expect(count.withLock { $0 } < 300)
        // Known items stay known.
        try store.close()
        let again = try scratch.open()
        #expect(try await again.all() == before)
    }

    @Test func aListingThatFailsOrLagsDeletesNothing() async throws {
        let scratch = try PathScratch()
        for name in ["one", "two"] { scratch.storage.put(name, at: name) }
        let mood = Locked(0)
        let store = try Self.store(scratch) { lying in
            lying.listed = { (_, _, page) throws(PathStorageError) in
                switch mood.withLock({ $0 }) {
                case 0: return page
                case 1: throw .unreachable("away")
                case 2: throw .unavailable("not now")
                default: return PathPage(entries: [])
                }
            }
        }
        let before = try await store.all()
        let anchor = try await store.currentAnchor()
        mood.withLock { $0 = 1 }
        await expectFailure("serverUnreachable") { _ = try await store.enumerateChanges(from: anchor) }
        await expectFailure("serverUnreachable") { _ = try await store.all() }
        mood.withLock { $0 = 2 }
        _ = try await store.changes(from: anchor)
        // Empty, although each file exists: the listing lags.
        mood.withLock { $0 = 3 }
        let told = try await store.changes(from: anchor)
        #expect(told.deleted.isEmpty)
        #expect(try await store.all() == before)
    }

    /// A request with an invalid answer proves nothing.
    @Test func anAnswerAboutAnotherPathIsRejected() async throws {
        let scratch = try PathScratch()
        let isLying = Locked(false)
        let store = try Self.store(scratch) { lying in
            lying.told = { _, entry in
                guard isLying.withLock({ $0 }), var other = entry else { return entry }
                other.path = StoragePath("other")
                return other
            }
        }
        let file = try await store.make("file")
        isLying.withLock { $0 = true }
        await expectFailure("serverUnreachable") { _ = try await store.item(file.identifier) }
        await expectFailure("serverUnreachable") { try await store.deleteItem(file.identifier, base: file.version) }
        isLying.withLock { $0 = false }
        #expect(try await store.item(file.identifier) == file)
    }

    @Test func aConstantlyChangingVersionEndsTheCall() async throws {
        let scratch = try PathScratch()
        let count = Locked(0)
        @Sendable func changed(_ entry: PathEntry) -> PathEntry {
            var entry = entry
            guard entry.kind == .file else { return entry }
            let number = count.withLock { count in
                count += 1
                return count
            }
            entry.version = "look \(number)"
            return entry
        }
        let store = try Self.store(scratch) { lying in
            lying.told = { _, entry in entry.map(changed) }
            lying.listed = { _, _, page in PathPage(entries: page.entries.map(changed), next: page.next) }
        }
        let file = try await store.make("file")
        await expectFailure("versionNoLongerAvailable") {
            _ = try await store.fetchContents(
                of: file.identifier, version: file.version.content, range: nil, into: ContentBuffer())
        }
        await expectFailure("itemUnavailable") { _ = try await store.text(file) }
        await expectFailure("deletionRejected") { try await store.deleteItem(file.identifier, base: file.version) }
        await expectFailure("itemUnavailable") { try await store.move(file, to: "moved") }
        #expect(count.withLock { $0 } < 100)
        #expect(scratch.storage.names == ["file"])
    }

    /// Two names of one file, or wrong identities: the items stay separate.
    @Test func anIdentityAtTwoPathsIsTwoItems() async throws {
        var properties = PathStorageProperties()
        properties.hasIdentities = true
        let scratch = try PathScratch(properties)
        scratch.storage.put("text", at: "one")
        let store = try Self.store(scratch) { lying in
            @Sendable func same(_ entry: PathEntry) -> PathEntry {
                var entry = entry
                entry.identity = "the same"
                return entry
            }
            lying.told = { _, entry in entry.map(same) }
            lying.listed = { _, _, page in PathPage(entries: page.entries.map(same), next: page.next) }
        }
        let one = try await store.child("one")
        scratch.storage.put("text", at: "two")
        scratch.storage.add(.folder, at: "folder")
        let all = try await store.all()
        #expect(Set(all.map(\.identifier)).count == 3)
        #expect(all.first { $0.filename == FileName("one") }?.identifier == one.identifier)
        #expect(try await store.all() == all)
    }

    /// A folder whose identity appears inside itself.
    @Test func noFolderContainsItself() async throws {
        var properties = PathStorageProperties()
        properties.hasIdentities = true
        let scratch = try PathScratch(properties)
        scratch.storage.add(.folder, at: "outer")
        let isGone = Locked(false)
        let store = try Self.store(scratch) { lying in
            lying.told = { path, entry in isGone.withLock { $0 } && path == StoragePath("outer") ? nil : entry }
            lying.listed = { folder, _, page in
                guard folder == StoragePath("outer") else { return page }
                let inner = PathEntry(path: StoragePath("outer/inner"), kind: .folder, identity: "n1")
                return PathPage(entries: [inner])
            }
        }
        let outer = try await store.child("outer")
        isGone.withLock { $0 = true }
        let inner = try await store.all(in: outer.identifier)
        #expect(inner.map(\.identifier) != [outer.identifier])
        #expect(inner.first?.parent == outer.identifier)
    }

    @Test func namesThatDifferInCaseAreDistinctIfTheStorageSaysSo() async throws {
        for isCaseSensitive in [true, false] {
            var properties = PathStorageProperties()
            properties.isCaseSensitive = isCaseSensitive
            let scratch = try PathScratch(properties)
            let store = try scratch.open()
            try await store.make("Name", "one")
            if isCaseSensitive {
                try await store.make("name", "two")
                #expect(try await store.names() == ["Name", "name"])
            } else {
                await expectFailure("filenameCollision") { try await store.make("name", "two") }
                #expect(try await store.names() == ["Name"])
                #expect(scratch.storage.text(at: "Name") == "one")
            }
        }
    }

    /// Composed and decomposed: bytes, not text.
    @Test func namesInDifferentNormalizationsAreDistinct() async throws {
        let scratch = try PathScratch()
        let store = try scratch.open()
        let names = [FileName("\u{e9}"), FileName("e\u{301}")]
        for name in names { try await store.make(PathStore.template(name.description), name.description) }
        #expect(try await Set(store.all().map(\.filename)) == Set(names))
        for item in try await store.all() { #expect(try await FileName(store.text(item)) == item.filename) }
    }
}
