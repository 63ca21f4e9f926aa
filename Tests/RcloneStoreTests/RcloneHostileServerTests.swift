import HTTPStorage
import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import HTTPClient
@testable import RcloneStore

/// Invalid answers, which rclone would not give.
@Suite struct RcloneHostileServerTests {
    private static let program = Result { try ServingProgram("hostile-rclone") }

    private struct Scratch: StorageScratch {
        let storage: RcloneStorage
    }

    private func open(_ kind: String, timeLimit: Duration = .seconds(60)) async throws -> RcloneStorage {
        let place = try Self.program.get().values["RCLONE_SERVER"] ?? ""
        let connection = RcloneConnection(client: try HTTPClient(), base: "http://\(place)/\(kind)", silence: 20)
        return try await RcloneStorage.open(
            try RcloneAddress("rclone:x:"), connection, state: try RcloneRemote.state(), setsTimes: true,
            mostItems: 5_000, timeLimit: timeLimit)
    }

    private func run(_ kind: String, _ body: (Scratch) async throws -> Void) async throws {
        try await body(Scratch(storage: try await open(kind)))
    }

    @Test func namesCannotLeaveTheirFolder() async throws {
        try await run("names") { scratch in
            let found = try await scratch.list()
            #expect(found.keys.sorted() == ["good", "good2"])
        }
    }

    @Test(arguments: [
        "malformed", "cut", "other", "deep", "empty", "html", "list", "numbers", "after", "size", "text", "endless",
        "wide", "between",
    ])
    func anInvalidListingIsAnError(_ kind: String) async throws {
        try await run(kind) { scratch in
            let error = try await failure { _ = try await scratch.list() }
            guard case .unreachable = error else {
                Issue.record("\(kind): \(error)")
                return
            }
        }
    }

    /// rclone lists all of the root to check it, which may take longer than the daemon waits.
    @Test func aRootThatTakesLongToListIsOpened() async throws {
        let storage = try await open("huge", timeLimit: .milliseconds(100))
        let found = try await Scratch(storage: storage).list()
        #expect(found.keys.sorted() == ["file"])
    }

    /// Dropbox, for example, sets a file's time with its content only.
    @Test func aTimeThatCannotBeSetStaysLocal() async throws {
        try await run("fixed") { scratch in
            for seconds: Int64 in [1_580_000_000, 1_590_000_000] {
                let date = PathAttributes(modificationDate: Timestamp(seconds: seconds, nanoseconds: 0))
                let entry = try await scratch.storage.set(date, of: scratch.path("file"))
                #expect(entry.attributes.modificationDate?.seconds == 1_577_934_245)
            }
            // It is not tried again.
            #expect(scratch.storage.hasFixedTimes.withLock { $0 })
        }
    }

    @Test(arguments: ["stat", "gone"]) func anAnswerToAnotherRequestProvesNothing(_ kind: String) async throws {
        let isOpen = (try? await open(kind)) != nil
        if isOpen {
            try await run(kind) { scratch in
                guard case .unreachable = try await failure({ _ = try await scratch.entry("file") }) else {
                    Issue.record("it was taken for an answer")
                    return
                }
            }
        }
        #expect(isOpen == (kind == "stat"))
    }

    @Test(arguments: ["portal", "nothing"]) func anotherServerThanRcloneIsUnreachable(_ kind: String) async throws {
        let error = await #expect(throws: ServerFailure.self) { _ = try await open(kind) }
        #expect(error == .unreachable("the answer is not a valid rclone answer"))
    }

    @Test(arguments: ["longer", "shorter", "another", "page", "range"])
    func anInvalidContentIsRejected(_ kind: String) async throws {
        try await run(kind) { scratch in
            let entry = try #require(try await scratch.entry("file"))
            let error = try await failure { _ = try await scratch.read("file", version: entry.version) }
            guard case .unreachable = error else {
                Issue.record("\(kind): \(error)")
                return
            }
        }
    }

    /// A captive portal answers every request with 200 and a page.
    @Test func aPageDoesNotConfirmAChange() async throws {
        try await run("welcome") { scratch in
            let entry = try #require(try await scratch.entry("file"))
            let error = try await failure {
                try await scratch.storage.remove(entry.path, version: entry.version)
            }
            #expect(error == .unreachable("the answer is not a valid rclone answer"))
        }
    }

    /// Another client's content of the same size is not recorded as ours: its time or its hash is another.
    @Test(arguments: ["late", "hashed"]) func contentOfOthersIsNotTakenForOurs(_ kind: String) async throws {
        try await run(kind) { scratch in
            if kind == "late" { try await scratch.write("first", "text") }
            let time = PathAttributes(modificationDate: Timestamp(seconds: 1_580_000_000, nanoseconds: 5))
            let error = try await failure { try await scratch.write("file", Array("text".utf8), time) }
            #expect(error == .unreachable("file: another client has written it since"))
        }
    }

    /// Some remotes report that they keep times, but do not: a different time proves nothing there.
    @Test func aRemoteWithoutTimesTakesContents() async throws {
        try await run("timeless") { scratch in
            let time = PathAttributes(modificationDate: Timestamp(seconds: 1_580_000_000, nanoseconds: 5))
            for name in ["first", "second"] { try await scratch.write(name, Array("text".utf8), time) }
        }
    }

    /// rclone counts what it sends: encrypted, and again after an error.
    @Test func progressIsWithinTheContent() async throws {
        let counts = Locked<[Int64]>([])
        try await run("counting") { scratch in
            try await ItemContents.with(Array("text".utf8)) { contents async throws(RemoteStoreError) in
                let listening = ItemContents(file: contents.file, size: contents.size) { count in
                    counts.withLock { $0.append(count) }
                }
                do throws(PathStorageError) {
                    _ = try await scratch.storage.write(
                        scratch.path("file"), contents: listening, attributes: PathAttributes(), guard: .absent)
                } catch {
                    throw .cannotSynchronize("\(error)")
                }
            }
        }
        #expect(counts.withLock { $0 } == [0, 4, 4])
    }

    /// A move that failed may have moved some of the folders.
    @Test func foldersAreForgottenAfterAMoveThatFailed() async throws {
        try await run("immovable") { scratch in
            let storage = scratch.storage
            await #expect(throws: PathStorageError.self) {
                _ = try await storage.move(scratch.path("folder"), to: scratch.path("target"), version: nil)
            }
            let found = try await scratch.entry("cleared")
            #expect(found != nil)
        }
    }

    /// rclone may have cached the parent's ID of a folder that was moved away.
    @Test func aFolderIsCreatedDespiteAStaleCache() async throws {
        try await run("stale") { scratch in
            try await scratch.folder("folder")
        }
    }

    @Test func theRequestedContentIsRead() async throws {
        try await run("fine") { scratch in
            let found = try await scratch.read("file")
            #expect(found == Array("abc".utf8))
        }
    }

    /// Every start of an answer, and every answer with one byte changed, is read or refused.
    @Test func anyBytesAreParsedOrRejected() {
        let whole = Array(
            #"{"list": [{"Path":"a b","Size":5,"ModTime":"2020-01-02T03:04:05.678+02:00","IsDir":false,"Hashes":{"md5":"x"}},{"Path":"\"}]","Size":-1,"IsDir":true}]}"#
                .utf8)
        func read(_ bytes: [UInt8]) -> [RemoteItem]? {
            let reader = ListReader()
            // In pieces, as they may arrive.
            for start in stride(from: 0, to: bytes.count, by: 7) {
                let piece = Array(bytes[start..<min(start + 7, bytes.count)])
                if !piece.withUnsafeBytes({ reader.take($0) }) { return nil }
            }
            return reader.finish()
        }
        let found = read(whole)
        #expect(found?.map(\.path) == ["a b", "\"}]"])
        #expect(found?[0].version("md5") == "md5-x" && found?[0].version(nil) == "5-1577927045.678000000")
        #expect(read(Array(#"{"list":null}"#.utf8)) == [])
        for count in 0..<whole.count { #expect(read(Array(whole[..<count])) == nil) }
        for (index, byte) in whole.enumerated() {
            for other in [0, 0x22, 0x5B, 0x7D, 0xFF, byte ^ 1] as [UInt8] {
                var bytes = whole
                bytes[index] = other
                _ = read(bytes)
            }
        }
    }

    @Test(arguments: [
        ("2020-01-02T03:04:05Z", 1_577_934_245), ("2020-01-02T03:04:05.5Z", 1_577_934_245),
        ("2020-01-02T03:04:05.5-01:30", 1_577_939_645), ("1960-01-02T03:04:05Z", nil), ("", nil),
        ("2020-01-02T03:04:05", nil), ("2020-01-02T03:04:05+99:00", nil), ("2020-13-02T03:04:05Z", nil),
    ])
    func invalidTimesAreIgnored(_ text: String, _ seconds: Int64?) {
        #expect(RemoteTime.read(text)?.seconds == seconds)
    }
}
