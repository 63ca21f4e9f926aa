import HTTPClient
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing

@testable import S3Store

/// Moves, for which S3 has no call: copies, and then removals.
@Suite struct MovingTests {
    @Test func nothingIsReplaced() async throws {
        try await S3Scratch.run { scratch in
            let one = try await scratch.write("one", "same")
            let two = try await scratch.write("two", "same")
            try await scratch.put("folder/x")
            for target in ["two", "folder"] {
                let error = try await failure {
                    _ = try await scratch.storage.move(
                        scratch.path("one"), to: scratch.path(target), version: one.version)
                }
                #expect(error == .taken(target == "two" ? two : try await scratch.entry("folder")))
            }
            let error = try await failure {
                _ = try await scratch.storage.move(scratch.path("folder"), to: scratch.path("two"), version: nil)
            }
            #expect(error == .taken(two))
            #expect(try await scratch.other.keys().sorted() == ["folder/x", "one", "two"])
        }
    }

    /// The copy was made, and the answer or the process was lost.
    @Test func anInterruptedMoveIsContinued() async throws {
        try await S3Scratch.run { scratch in
            let entry = try await scratch.write("old", "text", PathAttributes(mark: "mark"))
            let object = try #require(try await scratch.object("old"))
            _ = try await scratch.storage.move(scratch.path("old"), to: scratch.path("new"), version: entry.version)
            // The state before the removal.
            try await scratch.put(
                "old", "text", StoredObject.headers(metadata: object.metadata, carried: object.headers))
            let moved = try await scratch.storage.move(
                scratch.path("old"), to: scratch.path("new"), version: entry.version)
            #expect(moved.attributes.mark == "mark")
            #expect(try await scratch.other.keys() == ["new"])
        }
    }

    /// The answer of a move was lost, and another client wrote the source before it was repeated: the copy, whose ETag
    /// differs from the object's, is the only one.
    @Test func aRepeatedMoveKeepsTheOnlyCopy() async throws {
        var limits = TransferLimits()
        (limits.parted, limits.part, limits.copied) = (32 << 20, 5 << 20, 5 << 20)
        try await S3Scratch.run(limits: limits) { scratch in
            let content = [UInt8](repeating: 7, count: 6 << 20)
            let entry = try await scratch.write("log", content, PathAttributes())
            let (log, first) = (scratch.path("log"), scratch.path("log.1"))
            let moved = try await scratch.storage.move(log, to: first, version: entry.version)
            #expect(moved.version != entry.version)
            try await scratch.put("log", "second")
            let error = try await failure { _ = try await scratch.storage.move(log, to: first, version: entry.version) }
            #expect(error == .changed(try await scratch.entry("log")))
            #expect(try await scratch.read("log.1", version: moved.version) == content)
            #expect(try await scratch.other.keys().sorted() == ["log", "log.1"])
        }
    }

    @Test func aFolderMovesWithItsEntries() async throws {
        try await S3Scratch.run { scratch in
            try await scratch.folder("folder", mode: 0o750)
            for number in 0..<20 { try await scratch.put("folder/sub \(number % 3)/\(number)", "\(number)") }
            try await scratch.put("folder.txt", "beside")
            let moved = try await scratch.storage.move(scratch.path("folder"), to: scratch.path("moved"), version: nil)
            #expect(moved.attributes.mode == 0o750)
            for number in 0..<20 {
                #expect(
                    try await scratch.other.content(at: "moved/sub \(number % 3)/\(number)") == Array("\(number)".utf8))
            }
            let keys = try await scratch.other.keys()
            #expect(
                keys.count == 22 && !keys.contains { $0.hasPrefix("folder/") || $0.hasPrefix(".replica") }, "\(keys)")
        }
    }

    /// It was partly copied, and partly removed; another client wrote at both paths since.
    @Test func anInterruptedFolderMoveIsContinued() async throws {
        try await S3Scratch.run { scratch in
            for name in ["a", "b", "c", "d"] { try await scratch.put("folder/\(name)", "old \(name)") }
            _ = try await scratch.storage.move(scratch.path("folder"), to: scratch.path("moved"), version: nil)
            // The intermediate state: b was copied and is at both paths, c and d not yet, and d was created there by
            // another client.
            let note = scratch.storage.keys.own(
                "move-" + Hash.hexadecimal(Hash.sha256(Array("folder/\0moved/".utf8))).prefix(40))
            try await scratch.put(String(decoding: note, as: UTF8.self), "folder/\nmoved/")
            for name in ["b", "c", "d"] { try await scratch.put("folder/\(name)", "old \(name)") }
            try await scratch.other.delete("moved/c")
            try await scratch.put("moved/d", "theirs")
            let entry = try await scratch.storage.move(scratch.path("folder"), to: scratch.path("moved"), version: nil)
            #expect(entry.kind == .folder)
            for name in ["a", "b", "c"] {
                #expect(try await scratch.other.content(at: "moved/\(name)") == Array("old \(name)".utf8))
            }
            #expect(try await scratch.other.content(at: "moved/d") == Array("theirs".utf8))
            // Objects whose targets are taken stay at their paths.
            #expect(try await scratch.other.below("folder").map { String(decoding: $0, as: UTF8.self) } == ["folder/d"])
        }
    }

    @Test func largeObjectsAreCopiedInParts() async throws {
        var limits = TransferLimits()
        (limits.parted, limits.part, limits.copied) = (6 << 20, 5 << 20, 5 << 20)
        try await S3Scratch.run(limits: limits) { scratch in
            let content = [UInt8](repeating: 7, count: 11 << 20)
            let entry = try await scratch.write("old", content, PathAttributes(mode: 0o600))
            let moved = try await scratch.storage.move(
                scratch.path("old"), to: scratch.path("new"), version: entry.version)
            #expect(moved.size == entry.size && moved.attributes.mode == 0o600)
            #expect(try await scratch.read("new", version: moved.version) == content)
            #expect(try await scratch.other.keys() == ["new"])
        }
    }

    /// OpenStack Swift refuses every conditional copy: it tests the source.
    @Test func filesAndFoldersMoveOnAServerThatRefusesConditionalCopies() async throws {
        let server = try S3Server.shared
        let proxy = try ServingProgram("copy-refuser", [String(server.endpoint.split(separator: ":").last ?? "")])
        let endpoint = "http://127.0.0.1:\(proxy.values["PORT"] ?? "")"
        let account = S3Account(
            credentials: S3Server.credentials, region: "us-east-1", endpoint: endpoint, isVirtualHosted: false)
        let storage = try await server.storage(server.bucket(), account)
        defer { storage.close() }
        let scratch = Moved(storage: storage)
        let made = try await scratch.write("one", "content")
        _ = try await storage.make(scratch.path("folder"), kind: .folder, attributes: PathAttributes())
        _ = try await scratch.write("folder/inner", "more")
        #expect(try await storage.move(scratch.path("one"), to: scratch.path("two"), version: made.version).size == 7)
        _ = try await storage.move(scratch.path("folder"), to: scratch.path("other"), version: nil)
        #expect(try await scratch.list().keys.sorted() == ["other", "two"])
        #expect(try await storage.entry(at: scratch.path("other/inner"))?.size == 4)
        // What the trial made is gone.
        #expect(storage.abilities.createsExclusively && storage.abilities.refusesConditionalCopies)
    }

    private struct Moved: StorageScratch {
        let storage: S3Storage
    }
}
