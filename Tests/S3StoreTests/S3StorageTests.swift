import Foundation
import HTTPClient
import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import S3Store

/// The calls on a real server.
@Suite struct S3StorageTests {
    private static let small: TransferLimits = {
        var limits = TransferLimits()
        // S3 rejects parts below five mebibytes, except the last.
        (limits.parted, limits.part, limits.whole, limits.copied) = (6 << 20, 5 << 20, 6 << 20, 8 << 20)
        return limits
    }()

    private static func bytes(_ count: Int) -> [UInt8] {
        var state: UInt64 = 88_172_645_463_325_252
        return (0..<count).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state)
        }
    }

    @Test func theServersFeaturesAreDetected() async throws {
        try await S3Scratch.run { scratch in
            // Ceph 16 only accepts the ETag of a condition without quotes, and no condition for removals and the
            // completion of multipart uploads.
            #expect(
                scratch.storage.abilities
                    == ServerAbilities(
                        createsExclusively: true, replaceForm: .bare, removesConditionally: false,
                        completesConditionally: false))
            #expect(scratch.storage.properties.createStrength == .atomic)
            #expect(scratch.storage.properties.replaceStrength == .atomic)
            #expect(scratch.storage.properties.removeStrength == .checked)
            let (keys, uploads) = (try await scratch.other.keys(), try await scratch.unfinishedUploads())
            #expect(keys.isEmpty && uploads == 0)
        }
    }

    @Test func testedFeaturesAreRemembered() async throws {
        let folder = try TemporaryFolder()
        let memory = SavedAbilities<ServerAbilities>(folder: folder.path.string)
        let abilities = ServerAbilities(replaceForm: .quoted)
        #expect(memory.abilities(of: "one") == nil)
        memory.note(abilities, of: "one")
        #expect(memory.abilities(of: "one") == abilities)
        #expect(memory.abilities(of: "another") == nil)
        try folder.write("{", to: "abilities.json")
        #expect(memory.abilities(of: "one") == nil)
    }

    @Test(arguments: [0, 1, 4_095, 100_000, 12 << 20 | 1]) func contentsOfAnySizeAreReadAsWritten(_ size: Int)
        async throws
    {
        try await S3Scratch.run(limits: Self.small) { scratch in
            let content = Self.bytes(size)
            let entry = try await scratch.write("file", content)
            #expect(entry.size == Int64(size))
            #expect(try await scratch.read("file", version: entry.version) == content)
            #expect(try await scratch.other.content(at: "file") == content)
            try await scratch.checkRanges(of: "file", version: entry.version, content)
            let other = Self.bytes(size + 1)
            let replaced = try await scratch.write("file", other, guard: .version(try #require(entry.version)))
            #expect(replaced.version != entry.version)
            #expect(try await scratch.read("file") == other)
            #expect(try await scratch.unfinishedUploads() == 0)
        }
    }

    @Test func aCreateReplacesNothing() async throws {
        try await S3Scratch.run { scratch in
            try await scratch.put("file", "theirs")
            let there = try await scratch.entry("file")
            #expect(try await failure { try await scratch.write("file", "ours") } == .taken(there))
            #expect(try await scratch.other.content(at: "file") == Array("theirs".utf8))
            #expect(try await scratch.makeFails("file", .folder) == .taken(there))
            #expect(try await scratch.makeFails("file", .symlink([0x78])) == .taken(there))
        }
    }

    /// Twelve concurrent creates: the server decides.
    @Test func oneOfConcurrentCreatesWins() async throws {
        try await S3Scratch.run { scratch in
            for round in 0..<3 {
                let won = await withTaskGroup(of: Bool.self) { group in
                    for number in 0..<12 {
                        group.addTask { (try? await scratch.write("file \(round)", "\(number)")) != nil }
                    }
                    return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
                #expect(won == 1)
            }
        }
    }

    @Test func preconditionsAreChecked() async throws {
        try await S3Scratch.run { scratch in
            let old = try #require(try await scratch.write("file", "ours").version)
            try await scratch.put("file", "theirs")
            let now = try await scratch.entry("file")
            #expect(try await failure { try await scratch.write("file", "x", guard: .version(old)) } == .changed(now))
            #expect(try await failure { _ = try await scratch.read("file", version: old) } == .changed(now))
            #expect(
                try await failure { try await scratch.storage.remove(scratch.path("file"), version: old) }
                    == .changed(now))
            let moved = try await failure {
                _ = try await scratch.storage.move(scratch.path("file"), to: scratch.path("x"), version: old)
            }
            #expect(moved == .changed(now))
            #expect(try await scratch.other.content(at: "file") == Array("theirs".utf8))
            #expect(try await failure { try await scratch.write("none", "x", guard: .version(old)) } == .notFound)
            #expect(try await failure { _ = try await scratch.read("none") } == .notFound)
            // Removing a missing object succeeds.
            try await scratch.storage.remove(scratch.path("none"), version: old)
            try await scratch.storage.remove(scratch.path("none"), version: nil)
        }
    }

    /// Even if all checks came before the other client's write.
    @Test func theServerTestsTheConditionOfAReplacement() async throws {
        try await S3Scratch.run { scratch in
            let old = try #require(try await scratch.write("file", "ours").version)
            try await scratch.put("file", "theirs")
            var request = S3Request("PUT", Array("file".utf8))
            request.headers = scratch.storage.abilities.condition(tag: old)
            let sent = request
            await #expect(throws: S3Error.self) { _ = try await scratch.other.connection.send(sent) }
            #expect(try await scratch.other.content(at: "file") == Array("theirs".utf8))
        }
    }

    @Test func anUploadThatEndsEarlyLeavesNothing() async throws {
        try await S3Scratch.run(limits: Self.small) { scratch in
            let content = Self.bytes(7 << 20)
            for more in [Int64(content.count + 1), 3] {
                let outcome = try await ItemContents.with(content) { contents async throws(RemoteStoreError) in
                    // It declares more bytes than it has.
                    let longer = ItemContents(file: contents.file, size: contents.size + more)
                    do throws(PathStorageError) {
                        _ = try await scratch.storage.write(
                            scratch.path("file"), contents: longer, attributes: PathAttributes(), guard: .absent)
                        return PathStorageError?.none
                    } catch {
                        return error
                    }
                }
                guard case .refused = outcome else {
                    Issue.record("\(String(describing: outcome))")
                    return
                }
            }
            let (keys, uploads) = (try await scratch.other.keys(), try await scratch.unfinishedUploads())
            #expect(keys.isEmpty && uploads == 0)
        }
    }

    @Test func cancellationDoesNotWait() async throws {
        try await S3Scratch.run(limits: Self.small) { scratch in
            let content = Self.bytes(20 << 20)
            let task = Task { try await scratch.write("file", content) }
            task.cancel()
            await #expect(throws: PathStorageError.cancelled) { try await task.value }
            let (keys, uploads) = (try await scratch.other.keys(), try await scratch.unfinishedUploads())
            #expect(keys.isEmpty && uploads == 0)
        }
    }

    @Test func aClosedStorageFailsCalls() async throws {
        try await S3Scratch.run { scratch in
            scratch.storage.close()
            let error = try await failure { _ = try await scratch.entry("file") }
            #expect(error == .cancelled)
        }
    }
}
