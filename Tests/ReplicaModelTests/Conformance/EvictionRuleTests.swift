import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// The table of MODEL.md#eviction: what is evicted, what is refused, and why.
@Suite struct EvictionRuleTests {
    private func evict(_ path: String, _ bench: Bench, isStrict: Bool = false) async throws -> Eviction {
        try await bench.domain.evict(Bench.names(path), isStrict: isStrict)
    }

    @Test func uploadedFilesAreEvictedAndFetchedAgain() async throws {
        let bench = try Bench()
        try bench.write(String(repeating: "x", count: 100_000), to: "x")
        try bench.setXattr("user.comment", "stays", of: "x")
        try await bench.settle()
        let before = try bench.status("x")
        let done = try await evict("x", bench)
        #expect(
            done
                == {
                    var one = Eviction()
                    one.items = 1
                    one.bytes = 100_000
                    return one
                }())
        let after = try bench.status("x")
        #expect(after.st_blocks < before.st_blocks)
        #expect(after.st_size == 100_000)
        #expect(after.st_mtim.tv_sec == before.st_mtim.tv_sec && after.st_mtim.tv_nsec == before.st_mtim.tv_nsec)
        let kept = try bench.replica.xattr("user.comment", of: try bench.number("x"))
        #expect(kept == Array("stays".utf8))
        #expect(try await bench.report("x").materialization == .dataless)
        #expect(try await bench.read("x").count == 1 << 16)
        #expect(bench.store.calls(of: .fetchContents).count == 1)
        // None of this is a change for the store.
        #expect(bench.store.calls(of: .modifyItem).isEmpty)
    }

    @Test func evictingADatalessFileSucceeds() async throws {
        let bench = try Bench()
        bench.store.write("theirs", to: "x")
        try await bench.settle()
        #expect(try await evict("x", bench, isStrict: true) == Eviction())
    }

    @Test func evictingAnUnsentFileIsRefused() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        #expect(try await evict("x", bench).refused.map(\.reason) == [.unsyncedEdits])
        try await bench.settle()
        try bench.write("two", to: "x")
        #expect(try await evict("x", bench).refused.map(\.reason) == [.unsyncedEdits])
        try await bench.settle()
        #expect(try await evict("x", bench).items == 1)
        #expect(try await bench.read("x") == "two")
    }

    /// The database is updated first: a placeholder of an item that it does not know would be lost in a crash.
    @Test func unrecordedItemsAreRecordedBeforeEviction() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        bench.pass(2)
        _ = await bench.engine.send()
        let number = try bench.number("x")
        #expect(bench.replica.withTree { $0.unrecorded.nodes[number] != nil })
        #expect(try bench.replica.evictFile(number) == 3)
        try bench.crash()
        #expect(try await bench.read("x") == "one")
        #expect(bench.store.calls(of: .createItem).count == 1)
    }

    /// Being open may be over in a moment; the user has to know that it is edited.
    @Test func evictionReportsAnEditBeforeAnOpenFile() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        let number = try bench.number("x")
        let file = try bench.replica.open(number, flags: O_WRONLY)
        #expect(try await evict("x", bench).refused.map(\.reason) == [.open])
        #expect(Glibc.write(file.descriptor, "longer", 6) == 6)
        #expect(try await evict("x", bench).refused.map(\.reason) == [.unsyncedEdits])
        close(file.descriptor)
        bench.replica.closed(number, isWriter: true)
    }

    /// A rename is in flight and was undone here: nothing is edited, but the store has still to answer.
    @Test func evictingDuringACallIsRefused() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        let barrier = Barrier()
        bench.store.hold(.modifyItem, at: barrier)
        try bench.rename("x", to: "y")
        bench.pass(2)
        let engine = bench.engine
        let sending = Task { await engine.send() }
        try await bench.until("the call") { bench.store.calls(of: .modifyItem).count == 1 }
        try bench.rename("y", to: "x")
        #expect(try await bench.report("x").pending == [])
        #expect(try await evict("x", bench).refused.map(\.reason) == [.unsyncedEdits])
        barrier.lift()
        _ = await sending.value
        try await bench.settle()
        #expect(try await evict("x", bench).items == 1)
    }

    @Test func evictingBeforeTheStoresAnswerIsRefused() async throws {
        let script = ScriptedStore()
        script.onCreate { (call) async throws(RemoteStoreError) in
            var result = try await call.execute()
            result.item?.isUploaded = false
            return result
        }
        let bench = try Bench(script)
        try await bench.settle()
        try bench.write("one", to: "x")
        try await bench.send()
        #expect(try await evict("x", bench).refused.map(\.reason) == [.unsyncedEdits])
        // The store reports later that it has it.
        bench.store.update("x") { $0.favoriteRank = 1 }
        try await bench.settle()
        #expect(try await evict("x", bench).items == 1)
    }

    @Test(arguments: [O_RDONLY, O_WRONLY, O_RDWR])
    func evictingAnOpenFileIsRefused(flags: Int32) async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        let number = try bench.number("x")
        let file = try bench.replica.open(number, flags: flags)
        #expect(try await evict("x", bench).refused.map(\.reason) == [.open])
        close(file.descriptor)
        bench.replica.closed(number, isWriter: flags != O_RDONLY)
        #expect(try await evict("x", bench).items == 1)
    }

    @Test func evictingAHardLinkIsRefused() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        let number = try bench.number("x")
        _ = try bench.replica.link(number, as: FileName("y"), in: .root)
        try await bench.settle()
        #expect(try await evict("x", bench).refused.map(\.reason) == [.hardLinked])
        #expect(try await evict("y", bench).refused.map(\.reason) == [.hardLinked])
    }

    @Test func evictingAPinnedFileIsRefusedUntilItIsUnpinned() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        try bench.write("one", to: "d/x")
        try await bench.settle()
        try await bench.domain.pin(Bench.names("d"))
        #expect(try await evict("d/x", bench).refused.map(\.reason) == [.pinned])
        #expect(try await bench.report("d/x").isPinned)
        try bench.restart()
        #expect(try await evict("d/x", bench).refused.map(\.reason) == [.pinned])
        try await bench.domain.unpin(Bench.names("d"))
        #expect(try await evict("d/x", bench).items == 1)
    }

    @Test func evictingASpecialFileIsRefused() async throws {
        let bench = try Bench()
        _ = try bench.replica.makeNode(
            FileName("pipe"), in: .root, mode: UInt32(S_IFIFO) | 0o600, device: 0, caller: Bench.caller)
        #expect(try await evict("pipe", bench).refused.map(\.reason) == [.notEvictable])
        await #expect(throws: Errno.noSuchFileOrDirectory) { try await evict("nothing", bench) }
    }

    @Test func aFolderIsEvictedAsFarAsPossible() async throws {
        let bench = try Bench()
        try bench.makeFolder("d")
        for name in ["d/a", "d/b", "d/c"] { try bench.write("one", to: name) }
        try await bench.settle()
        try bench.write("two", to: "d/b")
        // Strict: the first refusal is the result.
        let strict = try await evict("d", bench, isStrict: true)
        #expect(strict.items == 0)
        #expect(strict.refused.map(\.path) == [Bench.names("d/b")])
        #expect(try await bench.report("d/a").materialization == .whole)
        let partial = try await evict("d", bench)
        #expect(partial.items == 2)
        #expect(partial.refused.map(\.path) == [Bench.names("d/b")])
        #expect(try await bench.report("d/a").materialization == .dataless)
        #expect(try await bench.read("d/b") == "two")
    }

    @Test func aForgottenFolderIsListedAgain() async throws {
        let bench = try Bench()
        try await bench.settle()
        for name in ["x", "y"] { bench.store.write("theirs", to: "d/\(name)") }
        try await bench.settle()
        try await bench.domain.download(Bench.names("d"), waits: true)
        #expect(try await bench.report("d").materialization == .whole)
        let done = try await bench.domain.forget(Bench.names("d"))
        #expect(done.refused.isEmpty)
        #expect(done.items == 1)
        #expect(try await bench.report("d").materialization == .dataless)
        bench.store.write("new", to: "d/z")
        try await bench.domain.download(Bench.names("d"), waits: true)
        try await bench.settle()
        #expect(
            try bench.replica.entries(of: try bench.number("d")).map(\.name.description).sorted() == ["x", "y", "z"])
        // No deletion was ever sent to the store.
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
    }

    @Test func anEvictionSurvivesACrash() async throws {
        let bench = try Bench()
        try bench.write("one", to: "x")
        try await bench.settle()
        #expect(try await evict("x", bench).items == 1)
        try bench.crash()
        try await bench.settle()
        #expect(try await bench.report("x").materialization == .dataless)
        #expect(bench.store.text(at: "x") == "one")
        #expect(try await bench.read("x") == "one")
        #expect(bench.store.calls(of: .modifyItem).allSatisfy { !$0.fields.contains(.contents) })
    }
}
