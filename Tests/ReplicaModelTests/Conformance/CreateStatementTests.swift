import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// Seed D: the arguments of createItem(basedOn:fields:contents:options:request:completionHandler:).
@Suite struct CreateStatementTests {
    @Test func statement66_progressCountsTheUploadedBytes() async throws {
        let script = ScriptedStore()
        let bench = try Bench(script)
        let seen = Locked<[String]>([])
        let engine = bench.engine
        let look: @Sendable () -> Void = {
            let upload = engine.statistics.withLock { $0.uploads.values.first }
            seen.withLock { $0.append(upload.map { "\($0.done)/\($0.size)" } ?? "none") }
        }
        script.onCreate { (call) async throws(RemoteStoreError) in
            look()
            call.contents?.progress(4)
            look()
            let result = try await call.execute()
            look()
            return result
        }
        try bench.write("12345678", to: "x")
        try await bench.settle()
        #expect(seen.withLock { $0 } == ["0/8", "4/8", "8/8"])
        #expect(try await bench.report("x").transfer == nil)
    }

    @Test func statement67_anErrorEndsTheProgress() async throws {
        let script = ScriptedStore()
        let bench = try Bench(script)
        let late = Locked<(@Sendable (Int64) -> Void)?>(nil)
        script.onCreate { (call) async throws(RemoteStoreError) in
            call.contents?.progress(4)
            late.withLock { $0 = call.contents?.progress }
            throw .cannotSynchronize("half of it")
        }
        try bench.write("12345678", to: "x")
        try await bench.send()
        #expect(try await bench.report("x").transfer == nil)
        // Further progress reports of a store are ignored.
        late.withLock { $0 }?(6)
        #expect(try await bench.report("x").transfer == nil)
        #expect(bench.engine.statistics.withLock { $0.uploads.isEmpty })
    }

    @Test func statement68_onlyAnImportMayMeetItems() async throws {
        let bench = try Bench { try FileTree.make($0, ["d/x": "one"]) }
        try await bench.settle()
        let imported = bench.store.calls(of: .createItem)
        #expect(imported.count == 2)
        #expect(imported.allSatisfy { $0.options == CreateOptions.mayAlreadyExist.rawValue })
        bench.store.clearCalls()
        try bench.write("two", to: "d/y")
        try bench.makeFolder("e")
        try await bench.settle()
        let made = bench.store.calls(of: .createItem)
        #expect(made.count == 2)
        #expect(made.allSatisfy { $0.options == 0 })
    }

    @Test func statement69_theLocalCopyServesAfterTheUpload() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        #expect(try await bench.read("x") == "one")
        #expect(bench.store.calls(of: .fetchContents).isEmpty)
    }

    @Test func statement70_theStoreGetsWhatTheTemplateSays() async throws {
        let bench = try Bench()
        try bench.makeFolder("a")
        try bench.makeFolder("a/b")
        try bench.write("one", to: "a/b/x")
        try bench.write("", to: "a/empty")
        try bench.makeSymlink("a/link", to: "b/x")
        try await bench.settle()
        let there = bench.store.entries
        #expect(there.keys.sorted() == ["a", "a/b", "a/b/x", "a/empty", "a/link"])
        #expect(bench.store.text(at: "a/b/x") == "one")
        #expect(bench.store.text(at: "a/empty") == "")
        #expect(there["a/link"]?.item.target == Array("b/x".utf8))
        #expect(there["a/b/x"]?.item.metadata.mode == 0o644)
    }

    @Test func statement71_templateIdentifiersAreUnique() async throws {
        let bench = try Bench()
        let made = try (0..<1_000).map { index in
            try bench.replica.makeFolder(FileName("f\(index)"), in: .root, mode: 0o755, caller: Bench.caller).number
        }
        bench.pass(2)
        let identifiers = try made.compactMap { number -> ItemIdentifier? in
            guard case .send(let call) = try bench.replica.beginCall(number, settle: 1) else { return nil }
            return call.template.identifier
        }
        #expect(identifiers.count == 1_000)
        #expect(Set(identifiers).count == 1_000)
    }

    @Test func statement71_aTemplateIdentifierIsNeverUsedTwice() async throws {
        let bench = try Bench()
        for round in 0..<4 {
            try bench.write("one", to: "x")
            try await bench.settle()
            try bench.remove("x")
            try await bench.settle()
            try round.isMultiple(of: 2) ? bench.crash() : bench.restart()
        }
        let identifiers = bench.store.calls(of: .createItem).compactMap(\.template?.identifier)
        #expect(identifiers.count == 4)
        #expect(Set(identifiers).count == 4)
    }

    @Test func statement72_theTemplateIdentifierStaysTheSame() async throws {
        let bench = try Bench()
        bench.store.fail(.createItem, with: .serverUnreachable, times: 3)
        try bench.write("one", to: "x")
        try await bench.send()
        try await bench.send(after: 400)
        try bench.restart()
        try await bench.settle()
        let identifiers = bench.store.calls(of: .createItem).compactMap(\.template?.identifier)
        #expect(identifiers.count == 4)
        #expect(Set(identifiers).count == 1)
        #expect(bench.store.text(at: "x") == "one")
    }

    @Test func statement77_theContentIsASnapshot() async throws {
        let script = ScriptedStore()
        let bench = try Bench(script)
        try bench.write("first", to: "x")
        let (replica, number) = (bench.replica, try bench.number("x"))
        let sent = Locked<[UInt8]>([])
        script.onCreate { (call) async throws(RemoteStoreError) in
            replica.overwrite(number, with: "written meanwhile")
            let bytes = try call.contents?.allBytes()
            sent.withLock { $0 = bytes ?? [] }
            return try await call.execute()
        }
        try await bench.settle()
        #expect(sent.withLock { $0 } == Array("first".utf8))
        #expect(bench.store.everHeld(Array("first".utf8)))
        #expect(bench.store.text(at: "x") == "written meanwhile")
    }

    @Test func statement78_onlyFilesHaveContents() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try bench.makeSymlink("l", to: "nowhere")
        try await bench.settle()
        #expect(bench.store.calls(of: .createItem).map(\.hasContents) == [false, false])
    }

    @Test(arguments: ["x", "../up/and/away", "/absolute", "dangling ☂", "a/b/../c"])
    func statement79_aSymlinkIsItsTarget(target: String) async throws {
        let bench = try Bench()
        try bench.makeSymlink("l", to: target)
        try await bench.settle()
        #expect(bench.store.item(at: "l")?.target == Array(target.utf8))
        #expect(bench.store.item(at: "l")?.kind == .symlink)
        bench.store.makeSymlink("theirs", to: target)
        try await bench.settle()
        #expect(try bench.tree()["theirs"] == target)
    }

    @Test func statement85_fieldsSayWhatToApply() async throws {
        let bench = try Bench()
        try bench.write("", to: "x")
        try await bench.settle()
        try bench.setAttributes(of: "x") { $0.modified = .to(Timestamp(seconds: 1_000, nanoseconds: 7)) }
        try await bench.settle()
        try bench.setXattr("user.comment", "hello", of: "x")
        try await bench.settle()
        let created = try #require(bench.store.calls(of: .createItem).first)
        #expect(created.fields.isDisjoint(with: [.tags, .extendedAttributes, .favoriteRank, .lastUsedDate]))
        #expect(bench.store.calls(of: .modifyItem).map(\.fields) == [.modificationDate, .extendedAttributes])
        // Fields that are not in the mask stay unchanged in the store.
        #expect(bench.store.item(at: "x")?.metadata.modificationDate == Timestamp(seconds: 1_000, nanoseconds: 7))
        #expect(bench.store.item(at: "x")?.metadata.extendedAttributes == ["user.comment": Array("hello".utf8)])
    }

    @Test func statement86_contentsComeExactlyWithTheirField() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try bench.write("one", to: "d/x")
        try bench.write("", to: "empty")
        try await bench.settle()
        try bench.write("two", to: "d/x")
        try bench.rename("empty", to: "d/empty")
        try await bench.settle()
        try bench.setAttributes(of: "d/x") { $0.mode = 0o600 }
        try bench.rename("d/x", to: "x")
        try bench.write("three", to: "x")
        try await bench.settle()
        let calls = bench.store.calls(of: .createItem) + bench.store.calls(of: .modifyItem)
        #expect(calls.count >= 6)
        for call in calls { #expect(call.hasContents == call.fields.contains(.contents), "\(call)") }
    }

    @Test func statement88_itemsInTransferAreNotEvicted() async throws {
        let bench = try Bench()
        let barrier = Barrier()
        bench.store.hold(.createItem, at: barrier)
        try bench.write("one", to: "x")
        bench.pass(2)
        let engine = bench.engine
        let sending = Task { await engine.send() }
        try await bench.until("the call") { bench.store.calls(of: .createItem).count == 1 }
        #expect(try await bench.report("x").transfer == ItemTransfer(isUpload: true, done: 3, size: 3))
        let refused = try await bench.domain.evict(Bench.names("x"), isStrict: false)
        #expect(refused.refused.map(\.reason) == [.unsyncedEdits])
        barrier.lift()
        _ = await sending.value
        #expect(try await bench.report("x").transfer == nil)
        #expect(try await bench.domain.evict(Bench.names("x"), isStrict: false).items == 1)
    }
}
