import PathStore
import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@testable import HTTPClient
@testable import S3Store

/// Answers of a proxy instead of the server, and network faults of a connection.
@Suite struct OtherAnswerTests {
    private static func run(
        silenceSeconds: Int = 30, _ choice: @escaping StepFaults.Choice,
        _ body: (S3Storage, S3FaultedSession) async throws -> Void
    ) async throws {
        let server = try S3Server.shared
        let session = try S3FaultedSession(server, try await server.bucket(), silenceSeconds: silenceSeconds, choice)
        let storage = try await session.open()
        let outcome: Result<Void, any Error>
        do {
            try await session.writeElsewhere("text", to: "file")
            outcome = .success(try await body(storage, session))
        } catch {
            outcome = .failure(error)
        }
        storage.close()
        try outcome.get()
    }

    /// OpenStack Swift's answer to a removal has no body, but names a type of it.
    @Test(arguments: [(204, "text/plain", true), (204, "text/html; charset=UTF-8", true), (200, "text/html", false)])
    func onlyAnAnswerOfTheServerConfirmsARemoval(status: Int, type: String, isValid: Bool) {
        var head = HTTPHead()
        head.status = status
        head.headers = ["content-type": type]
        #expect(S3Request("DELETE", [1]).isDone(by: HTTPAnswer(head: head, body: [])) == isValid)
    }

    private static let file = StoragePath([FileName("file")])

    private static func isUnreachable(_ error: PathStorageError) -> Bool {
        if case .unreachable = error { true } else { false }
    }

    /// Only a listing by the server proves that a file is gone: it would be deleted here.
    @Test func aNotFoundPageProvesNothing() async throws {
        let choice: StepFaults.Choice = { (_, request) in request.words.first == "HEAD" ? .noSuchPage : nil }
        try await Self.run(choice) { storage, session in
            let look = try await session.armed { try await failure { _ = try await storage.entry(at: Self.file) } }
            #expect(Self.isUnreachable(look), "\(look)")
            let removal = try await session.armed {
                try await failure { try await storage.remove(Self.file, version: "x") }
            }
            #expect(Self.isUnreachable(removal), "\(removal)")
            let replacement = try await session.armed {
                try await failure { try await session.write(storage, Self.file, guard: .version("x")) }
            }
            #expect(Self.isUnreachable(replacement), "\(replacement)")
        }
    }

    /// A captive portal's page is neither a written file, nor a missing one, nor a symlink's target.
    @Test func aPortalsPageIsNotAnAnswer() async throws {
        let choice: StepFaults.Choice = { (_, request) in request.words.first == "HEAD" ? nil : .portal }
        try await Self.run(choice) { storage, session in
            let path = StoragePath([FileName("link")])
            _ = try await storage.make(path, kind: .symlink(Array("target".utf8)), attributes: PathAttributes())
            let look = try await session.armed { try await failure { _ = try await storage.entry(at: path) } }
            #expect(Self.isUnreachable(look), "\(look)")
            let entry = try #require(try await storage.entry(at: Self.file))
            let version = try #require(entry.version)
            let removal = try await session.armed {
                try await failure { try await storage.remove(Self.file, version: version) }
            }
            #expect(Self.isUnreachable(removal), "\(removal)")
            // Of the same size: a check would report the old one.
            let replacement = try await session.armed {
                try await failure { try await session.write(storage, Self.file, guard: .version(version)) }
            }
            #expect(Self.isUnreachable(replacement), "\(replacement)")
            #expect(try await storage.entry(at: Self.file) == entry)
        }
    }

    /// A reused connection breaks during a change: the repeated request finds its own first result, and would consider
    /// it another client's.
    @Test func aRepeatedRequestRecognizesItsOwnResult() async throws {
        let methods = Locked<[String]>([])
        let choice: StepFaults.Choice = { (_, request) in
            let method = request.words.first ?? ""
            methods.withLock { $0.append(method) }
            return method == "PUT" ? .lostAnswer : nil
        }
        try await Self.run(choice) { storage, session in
            let path = StoragePath([FileName("new")])
            let error = try await session.armed {
                try await failure { try await session.write(storage, path, guard: .absent) }
            }
            #expect(Self.isUnreachable(error), "\(error)")
            #expect(methods.withLock { $0.filter { $0 == "PUT" } } == ["PUT"])
        }
    }

    /// A proxy repeats an unanswered request: the second finds the result of the first.
    @Test func repeatedRequestsActOnce() async throws {
        let server = try S3Server.shared
        let choice: StepFaults.Choice = { (_, request) in request.words.first == "PUT" ? .sentTwice : nil }
        let session = try S3FaultedSession(server, try await server.bucket(), choice)
        try await session.run { store in
            let retrying = RetryingStore(store)
            let (file, now) = try await session.armed {
                let file = try await retrying.create("file", .file, in: .root, Array("one".utf8))
                _ = try await retrying.create("folder", .folder, in: .root, nil)
                return (file, try await retrying.modify(file, .contents, Array("two".utf8)))
            }
            #expect(now.identifier == file.identifier)
            #expect(try await session.files() == ["file": Array("two".utf8)])
        }
        #expect(session.faulted.count >= 3)
    }

    /// Read-only requests are repeated.
    @Test(arguments: [HTTPFault.lostAnswer, .lostRequest, .cutAnswer, .internalError, .slowDown, .tooMany])
    func aReadRequestIsRepeated(_ fault: HTTPFault) async throws {
        let choice: StepFaults.Choice = { (count, _) in count == 1 ? fault : nil }
        try await Self.run(choice) { storage, session in
            let entry = try await session.armed { try await storage.entry(at: Self.file) }
            #expect(entry?.size == 4 && session.faulted.count == 1)
        }
    }

    /// A pause that is too long is reported to the caller.
    @Test func aLongPauseIsReported() async throws {
        let count = Locked(0)
        let choice: StepFaults.Choice = { (_, _) in
            count.withLock { $0 += 1 }
            return .longPause
        }
        try await Self.run(choice) { storage, session in
            let error = try await session.armed { try await failure { _ = try await storage.entry(at: Self.file) } }
            #expect(error == .busy(seconds: 120) && count.withLock { $0 } == 1)
        }
    }

    /// A silent server is asked once, because a caller waits.
    @Test(arguments: [HTTPFault.silence, .silenceAfter, .silenceWithin])
    func aSilentServerTimesOut(_ fault: HTTPFault) async throws {
        let count = Locked(0)
        let choice: StepFaults.Choice = { (_, _) in
            count.withLock { $0 += 1 }
            return fault
        }
        try await Self.run(silenceSeconds: 1, choice) { storage, session in
            let error = try await session.armed { try await failure { _ = try await storage.entry(at: Self.file) } }
            #expect(Self.isUnreachable(error) && count.withLock { $0 } == 1, "\(error)")
        }
    }
}

extension S3FaultedSession {
    /// Writes four bytes.
    func write(_ storage: S3Storage, _ path: StoragePath, guard condition: WriteGuard) async throws {
        let outcome = try await ItemContents.with(Array("TEXT".utf8)) { contents async throws(RemoteStoreError) in
            do throws(PathStorageError) {
                return Result<PathEntry, PathStorageError>.success(
                    try await storage.write(
                        path, contents: contents, attributes: PathAttributes(), guard: condition))
            } catch {
                return .failure(error)
            }
        }
        _ = try outcome.get()
    }
}
