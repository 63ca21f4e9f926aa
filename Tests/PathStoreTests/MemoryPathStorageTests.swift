import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

/// The storage on which the other tests rely is correct: each strength has exactly its defined effect.
@Suite struct MemoryPathStorageTests {
    typealias Strength = PathStorageProperties.Strength

    private static func storage(_ strength: Strength) -> MemoryPathStorage {
        var properties = PathStorageProperties()
        properties.createStrength = strength
        properties.replaceStrength = strength
        properties.removeStrength = strength
        properties.moveStrength = strength
        return MemoryPathStorage(properties)
    }

    private static func write(
        _ text: String, to path: String, _ condition: WriteGuard, _ storage: MemoryPathStorage
    ) async throws -> PathEntry {
        let outcome = try await ItemContents.with(Array(text.utf8)) { contents in
            await Task {
                try await storage.write(
                    StoragePath(path), contents: contents, attributes: PathAttributes(), guard: condition)
            }.result
        }
        return try outcome.get()
    }

    private static func text(_ path: String, _ storage: MemoryPathStorage) -> String? {
        storage.content(at: StoragePath(path)).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [Strength.atomic, .checked])
    func aFailedPreconditionIsReported(_ strength: Strength) async throws {
        let storage = Self.storage(strength)
        storage.put("theirs", at: "file")
        let there = try #require(storage.present(StoragePath("file")))
        await #expect(throws: PathStorageError.taken(there)) {
            try await Self.write("ours", to: "file", .absent, storage)
        }
        await #expect(throws: PathStorageError.changed(there)) {
            try await Self.write("ours", to: "file", .version("other"), storage)
        }
        await #expect(throws: PathStorageError.changed(there)) {
            try await storage.remove(StoragePath("file"), version: "other")
        }
        storage.put("two", at: "two")
        await #expect(throws: PathStorageError.taken(there)) {
            try await storage.move(StoragePath("two"), to: StoragePath("file"), version: nil)
        }
        #expect(Self.text("file", storage) == "theirs")
        #expect(storage.casualties.isEmpty)
    }

    @Test(arguments: [Strength.atomic, .checked, .none])
    func onlyAnAtomicConditionPreventsARace(_ strength: Strength) async throws {
        let storage = Self.storage(strength)
        storage.race = { call in
            if call.method == .write { storage.put("theirs", at: "file") }
        }
        let outcome = await Task { try await Self.write("ours", to: "file", .absent, storage) }.result
        let isTaken = (try? outcome.get()) == nil  // The test above checks the error.
        #expect(isTaken == (strength == .atomic))
        #expect(Self.text("file", storage) == (strength == .atomic ? "theirs" : "ours"))
        #expect(storage.casualties.map(\.content) == (strength == .atomic ? [] : [Array("theirs".utf8)]))
    }

    @Test func withoutChecksAVersionIsIgnored() async throws {
        let storage = Self.storage(.none)
        storage.put("theirs", at: "file")
        _ = try await Self.write("ours", to: "file", .version("other"), storage)
        #expect(Self.text("file", storage) == "ours")
        #expect(storage.casualties.map(\.content) == [Array("theirs".utf8)])
    }

    @Test func writesWithinTheGrainLeaveOneVersion() async throws {
        var properties = PathStorageProperties()
        properties.changeGrain = 1_000
        let storage = MemoryPathStorage(properties)
        let clock = Locked<Int64>(500, rank: .innermost)
        storage.now = { clock.withLock { $0 } }
        storage.tellsSettled = true
        storage.put("one", at: "file")
        let first = try #require(storage.present(StoragePath("file")))
        #expect(!first.isSettled)
        clock.withLock { $0 = 900 }
        storage.put("two", at: "file")
        #expect(storage.present(StoragePath("file"))?.version == first.version)
        clock.withLock { $0 = 1_000 }
        #expect(storage.present(StoragePath("file"))?.isSettled == true)
        storage.put("six", at: "file")
        #expect(storage.present(StoragePath("file"))?.version != first.version)
    }

    @Test func unsupportedAttributesAreDropped() async throws {
        var properties = PathStorageProperties()
        (properties.keepsModes, properties.keepsMarks, properties.hasIdentities) = (false, false, true)
        properties.listsAttributes = false
        let storage = MemoryPathStorage(properties)
        storage.dateGrain = 1_000_000_000
        let date = Timestamp(seconds: 5, nanoseconds: 7)
        let made = try await storage.make(
            StoragePath("folder"), kind: .folder,
            attributes: PathAttributes(mode: 0o700, modificationDate: date, mark: "mark"))
        #expect(made.attributes == PathAttributes(modificationDate: Timestamp(seconds: 5, nanoseconds: 0)))
        #expect(made.identity != nil)
        let listed = try await storage.list(.root, isDeep: false, from: nil).entries
        #expect(listed.map(\.attributes) == [PathAttributes()])
        await #expect(throws: PathStorageError.unsupported("deep listings")) {
            try await storage.list(.root, isDeep: true, from: nil)
        }
    }

    @Test func pagesHaveEachEntryOnce() async throws {
        var properties = PathStorageProperties()
        properties.listsDeep = true
        let storage = MemoryPathStorage(properties)
        storage.add(.folder, at: "folder")
        for number in 0..<20 { storage.put("\(number)", at: number % 2 == 0 ? "\(number)" : "folder/\(number)") }
        storage.pageSize = 3
        for (isDeep, count) in [(false, 11), (true, 21)] {
            var found: [StoragePath] = []
            var page: EnumerationPage?
            repeat {
                let answer = try await storage.list(.root, isDeep: isDeep, from: page)
                found += answer.entries.map(\.path)
                page = answer.next
            } while page != nil
            #expect(found.count == count)
            #expect(Set(found).count == count)
        }
    }

    @Test func aFailureScheduleIsReproducible() async throws {
        func run() async -> (done: [Bool], said: [Bool]) {
            let storage = MemoryPathStorage()
            let schedule = FailureSchedule(seed: 7, percent: 20)
            schedule.begin(on: storage)
            var done: [Bool] = []
            var said: [Bool] = []
            for number in 0..<60 {
                let path = StoragePath("\(number)")
                let call = Task { try await storage.make(path, kind: .folder, attributes: PathAttributes()) }
                if case .success = await call.result { said.append(true) } else { said.append(false) }
                done.append(storage.present(path) != nil)
            }
            return (done, said)
        }
        let (first, again) = (await run(), await run())
        #expect(first == again)
        let pairs = zip(first.done, first.said)
        #expect(pairs.contains { $0 && !$1 }, "no answer was lost")
        #expect(pairs.contains { !$0 && !$1 }, "nothing failed before")
        #expect(!pairs.contains { !$0 && $1 })
    }
}
