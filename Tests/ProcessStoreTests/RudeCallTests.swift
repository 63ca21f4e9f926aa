import Glibc
import PathStore
import ReplicaModel
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ProcessStore

/// Stores that misbehave in a call: always an error, never a hang, never foreign bytes, nothing left behind.
@Suite(.serialized) struct RudeCallTests {
    private let file = StoragePath([FileName("file")])

    /// The error of a call; nil if it succeeds.
    private func failure(_ body: () async throws -> Void) async -> PathStorageError? {
        do { try await body() } catch let error as PathStorageError { return error } catch {
            Issue.record("it was \(error)")
        }
        return nil
    }

    private func expectUnreachable(_ error: PathStorageError?, _ reason: String) {
        guard case .unreachable(let text) = error else {
            Issue.record("it was \(String(describing: error))")
            return
        }
        #expect(text.contains(reason))
    }

    /// Each ends the run; the next call is served by another run.
    @Test(arguments: [
        ("unknown-id", "which is not in flight"), ("no-id", "without an id"), ("nothing", "without a result"),
        ("endless", "too long"), ("garbage", "not valid JSON"), ("bad-utf8", "not UTF-8"),
        ("nesting", "not valid JSON"), ("nesting-of-objects", "not valid JSON"),
        ("huge-number", "a line"), ("closes", "closed the connection"), ("death", "by signal 9"),
        ("stubborn", "not valid JSON"), ("text-error", "a line"), ("death-at-1", "with status 0"),
    ])
    func anInvalidLineEndsTheRun(fault: String, reason: String) async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("once-" + fault)
            expectUnreachable(await failure { _ = try await store.entry(at: file) }, reason)
            try await expectSoon { try await store.entry(at: file)?.size == 10 }
            #expect(rude.notes("runs").count == 2)
            await store.close()
        }
    }

    /// Retries while the last run is being ended or a pause lasts.
    private func expectSoon(_ body: () async throws -> Bool) async throws {
        let isBack = try await eventually { (try? await body()) == true }
        #expect(isBack, "it never came back")
    }

    @Test func aSecondAnswerEndsTheRun() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("once-two-answers")
            expectUnreachable(await failure { _ = try await store.entry(at: file) }, "is invalid")
            try await expectSoon { try await store.entry(at: file)?.size == 10 }
            #expect(rude.notes("runs").count == 2)
            #expect(rude.log.lines.contains { $0.contains("not in flight") })
            await store.close()
        }
    }

    /// These only fail one call.
    @Test(arguments: [
        ("no-result", "a line"), ("long-number", "a line"), ("fraction", "a line"), ("surrogate", "a line"),
        ("nul", "not valid JSON"),
    ])
    func anInvalidAnswerFailsItsCall(fault: String, reason: String) async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open(fault)
            expectUnreachable(await failure { _ = try await store.entry(at: file) }, reason)
            await store.close()
        }
    }

    @Test func anAnswerThatIsAlsoAnErrorIsAnError() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("both")
            #expect(try await store.entry(at: file) == nil)
            await store.close()
        }
    }

    @Test(arguments: [
        ("short", "has 9 bytes instead of 10"), ("long", "has 11 bytes instead of 10"), ("missing", "is missing"),
        ("symlink", "is a link"), ("fifo", "is not a regular file"), ("socket", "can't be opened"),
        ("directory", "is not a regular file"),
        ("two-names", "has other hard links"), ("other-version", "another version"),
        ("other-path", "answers for /other"),
        ("a-folder", "something that is not a file"), ("negative-size", "cannot be read"),
        ("no-version", "cannot be read"),
        ("wrote-negative", "an invalid range of bytes"), ("wrote-huge", "an invalid range of bytes"),
        ("wrote-one", "an invalid range of bytes"), ("wrote-pieces", "an invalid range of bytes"),
        ("wrote-beyond", "is too short"), ("wrote-then-cut", "the spool file"),
    ])
    func contentThatDiffersFromItsDeclarationIsRejected(fault: String, reason: String) async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open(fault)
            let sink = Bytes()
            expectUnreachable(
                await failure { _ = try await store.read(file, version: "v", range: nil, into: sink) }, reason)
            if ["symlink", "two-names", "fifo"].contains(fault) { #expect(sink.bytes == []) }
            await store.close()
        }
    }

    @Test func contentIsPassedOnAsItArrives() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("wrote-early")
            let sink = Bytes()
            let file = file
            let read = Task { try await store.read(file, version: "v", range: nil, into: sink) }
            // The store writes the second half when the first one has arrived.
            #expect(try await eventually { sink.bytes == Array("01234".utf8) })
            rude.note("arrived")
            #expect(try await read.value.size == 10 && sink.bytes == Array("0123456789".utf8))
            let part = Bytes()
            _ = try await store.read(file, version: nil, range: 3..<7, into: part)
            #expect(Array(part.bytes.dropFirst(3)) == Array("3456".utf8))
            await store.close()
        }
    }

    /// A tebibyte of zeros is transferred instantly.
    @Test func holesArePreserved() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("sparse")
            let sink = Bytes()
            _ = try await store.read(file, version: nil, range: nil, into: sink)
            #expect(sink.zeros == 1 << 40 && sink.bytes == [])
            await store.close()
        }
    }

    @Test func aSnapshotOfTheDeclaredSizeIsSent() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("none")
            let told = Locked<[Int64]>([])
            let path = StoragePath([FileName("new")])
            try await ItemContents.with(Array("abcdef".utf8)) { contents async throws(RemoteStoreError) in
                let part = ItemContents(file: contents.file, size: 4) { count in told.withLock { $0.append(count) } }
                let entry = try? await store.write(path, contents: part, attributes: PathAttributes(), guard: .absent)
                #expect(entry?.size == 4)
            }
            #expect(rude.notes("put") == ["4 absent"])
            #expect(told.withLock { $0.last } == 4)
            await store.close()
        }
    }

    @Test func anAnswerWithAnotherSizeIsAnError() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("half-a-put")
            try await ItemContents.with([1, 2]) { contents async throws(RemoteStoreError) in
                let error = await failure {
                    _ = try await store.write(file, contents: contents, attributes: PathAttributes(), guard: .absent)
                }
                expectUnreachable(error, "another size")
            }
            await store.close()
        }
    }

    @Test func aSnapshotThatIsTooShortIsNotSent() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("none")
            try await ItemContents.with([1, 2]) { contents async throws(RemoteStoreError) in
                let long = ItemContents(file: contents.file, size: 3)
                let error = await failure {
                    _ = try await store.write(file, contents: long, attributes: PathAttributes(), guard: .absent)
                }
                #expect(error == .refused("the snapshot ends before its size"))
            }
            #expect(rude.notes("put") == [])
            await store.close()
        }
    }

    @Test func entriesOfOtherFoldersAreIgnored() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("outside")
            expectUnreachable(
                await failure { _ = try await store.list(.root, isDeep: false, from: nil) }, "the store lists")
            await store.close()
        }
    }

    @Test func aPageThatRefersToItselfIsAnError() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("ring")
            let page = try await store.list(.root, isDeep: false, from: nil)
            expectUnreachable(
                await failure { _ = try await store.list(.root, isDeep: false, from: page.next) }, "refers to itself")
            await store.close()
        }
    }

    /// The adapter checks them, as for any storage; none is changed in the transport.
    @Test func unusualNamesAreUnchanged() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("strange-names")
            let names = try await store.list(.root, isDeep: false, from: nil).entries.map(\.path.names)
            #expect(names.allSatisfy { $0.count == 1 && !$0[0].isValid })
            #expect(names.count == 4)
            await store.close()
        }
    }

    @Test func errorCodesAreMapped() async throws {
        try await RudeStore.run { rude in
            let store = try await rude.open("none")
            let entry = try #require(try await store.entry(at: file))
            let text = "as it was asked for"
            let expected: [(String, PathStorageError)] = [
                ("notFound", .notFound), ("taken", .taken(entry)), ("changed", .changed(entry)),
                ("notEmpty", .notEmpty), ("notAuthenticated", .notAuthenticated(text)),
                ("insufficientQuota", .insufficientQuota(text)), ("readOnly", .readOnly(text)),
                ("busy", .busy(seconds: 1.5)), ("itemUnavailable", .unavailable(text)),
                ("cannotSynchronize", .refused(text)), ("unsupported", .unsupported(text)),
                ("serverUnreachable", .unreachable(text)), ("somethingElse", .unreachable(text)),
            ]
            for (code, wanted) in expected {
                let path = StoragePath([FileName(code)])
                let error = await failure { _ = try await store.set(PathAttributes(mode: 0o600), of: path) }
                #expect(error == wanted)
            }
            try await store.makeDurable()
            #expect(try await store.entry(at: StoragePath([FileName("else")])) == nil)
            await store.close()
        }
    }
}
