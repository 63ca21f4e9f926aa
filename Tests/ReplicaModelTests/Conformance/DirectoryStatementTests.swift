import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// Seed C: createDirectory(withName:inParentItemIdentifier:).
@Suite struct DirectoryStatementTests {
    @Test func statement44_mkdirCreatesTheGivenNameInTheGivenParent() async throws {
        let bench = try Bench()
        try bench.makeFolder("a")
        try await bench.settle()
        try bench.makeFolder("a/b")
        try await bench.settle()
        let call = try #require(bench.store.calls(of: .createItem).last)
        #expect(call.template?.filename == FileName("b"))
        #expect(call.template?.parent == bench.store.item(at: "a")?.identifier)
    }

    @Test func statement46_mkdirIsLocalAndWorksOffline() async throws {
        let bench = try Bench()
        bench.store.setHooks(before: { (_) async throws(RemoteStoreError) in throw .serverUnreachable })
        try bench.makeFolder("a")
        #expect(try bench.tree().keys.sorted() == ["a/"])
        try await bench.exchange()
        #expect(try bench.tree().keys.sorted() == ["a/"])
        bench.store.setHooks()
        try await bench.settle()
        #expect(bench.store.item(at: "a")?.kind == .folder)
    }

    @Test func statement47_mkdirDoesNotWaitForACallUnderWay() async throws {
        let bench = try Bench()
        let barrier = Barrier()
        bench.store.hold(.createItem, at: barrier)
        try bench.makeFolder("slow")
        bench.pass(2)
        let engine = bench.engine
        let sending = Task { await engine.send() }
        try await bench.until("the call") { bench.store.calls(of: .createItem).count == 1 }
        // It returns while the store is still processing the other.
        try bench.makeFolder("quick")
        #expect(try bench.tree().keys.sorted() == ["quick/", "slow/"])
        barrier.lift()
        _ = await sending.value
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["quick", "slow"])
    }

    @Test func statement48_mkdirReturnsBeforeAnyCallOfTheStore() async throws {
        let bench = try Bench()
        try await bench.settle()
        bench.store.clearCalls()
        try bench.makeFolder("a")
        try bench.makeFolder("a/b")
        #expect(bench.store.calls.isEmpty)
    }

    @Test func statement49_theTemporaryIdentifierIsReplacedOnce() async throws {
        let bench = try Bench()
        try bench.makeFolder("a")
        let (number, inode) = (try bench.number("a"), try bench.status("a").st_ino)
        #expect(try await bench.report("a").identifier == nil)
        try await bench.settle()
        #expect(try await bench.report("a").identifier == bench.store.item(at: "a")?.identifier)
        #expect(try bench.number("a") == number)
        #expect(try bench.status("a").st_ino == inode)
        #expect(try bench.replica.entries(of: .root).count == 1)
    }

    @Test func statement50_theParentIsThePassedOne() async throws {
        let bench = try Bench()
        try bench.makeFolder("a")
        try bench.makeFolder("a/b")
        try await bench.settle()
        #expect(bench.store.item(at: "a")?.parent == .root)
        #expect(bench.store.item(at: "a/b")?.parent == bench.store.item(at: "a")?.identifier)
    }

    @Test(arguments: ["plain", "two words", " ", ".hidden", "größe ☂", "e\u{301}", "a:b", "-rf", "~", "x\ny"])
    func statement51_theNameIsThePassedOne(name: String) async throws {
        let bench = try Bench()
        try bench.makeFolder(name)
        try await bench.settle()
        #expect(bench.store.item(at: name)?.filename.bytes == Array(name.utf8))
    }

    @Test func statement51_aNameThatIsNotUTF8StaysAsItIs() async throws {
        let bench = try Bench()
        let name = FileName(bytes: [0x66, 0xFC, 0x72])
        _ = try bench.replica.makeFolder(name, in: .root, mode: 0o755, caller: Bench.caller)
        try await bench.settle()
        #expect(bench.store.calls(of: .createItem).first?.template?.filename == name)
    }

    @Test func statement52_theCreationDateIsNow() async throws {
        let bench = try Bench()
        let before = time(nil)
        let entry = try bench.replica.makeFolder(FileName("a"), in: .root, mode: 0o755, caller: Bench.caller)
        // The kernel's clock for files may be a tick behind.
        #expect((Int64(before) - 1...Int64(time(nil)) + 1).contains(entry.status.born.seconds))
    }

    @Test func statement53_itIsAFolder() async throws {
        let bench = try Bench()
        let entry = try bench.replica.makeFolder(FileName("a"), in: .root, mode: 0o755, caller: Bench.caller)
        #expect(entry.status.kind == .folder)
        try await bench.settle()
        #expect(bench.store.calls(of: .createItem).first?.template?.kind == .folder)
        #expect(bench.store.item(at: "a")?.kind == .folder)
    }

    @Test func statement54_itHasNoChildrenAndNobodyAsksForThem() async throws {
        let bench = try Bench()
        try bench.makeFolder("a")
        #expect(try bench.replica.entries(of: try bench.number("a")).isEmpty)
        try await bench.settle()
        #expect(try bench.replica.entries(of: try bench.number("a")).isEmpty)
        #expect(bench.store.calls(of: .enumerateItems).allSatisfy { $0.identifier == .root })
    }

    /// A bench with a folder `a` that is read-only in the store.
    private func benchWithAFolderToRead() async throws -> Bench {
        let script = ScriptedStore()
        script.onCreate { (call) async throws(RemoteStoreError) in
            var result = try await call.execute()
            result.item?.capabilities = [.reading]
            return result
        }
        let bench = try Bench(script)
        try bench.makeFolder("a")
        try await bench.settle()
        return bench
    }

    @Test func statement55_capabilitiesAreKeptAndShown() async throws {
        let bench = try await benchWithAFolderToRead()
        #expect(try await bench.report("a").capabilities == [.reading])
        try bench.restart()
        #expect(try await bench.report("a").capabilities == [.reading])
    }

    @Test func statement56_withoutEnforcementTheChangeReachesTheStore() async throws {
        let bench = try await benchWithAFolderToRead()
        try bench.makeFolder("a/b")
        try await bench.settle()
        #expect(bench.store.item(at: "a/b")?.kind == .folder)
    }

    @Test func statement55_enforcedTheyAreWhatProgramsMayDo() async throws {
        let bench = try Bench(enforcing: true)
        try bench.write("one", to: "x")
        try await bench.settle()
        bench.store.allow([.reading], of: "x")
        try await bench.settle()
        #expect(throws: ReplicaError.errno(.permissionDenied)) { try bench.write("two", to: "x") }
        // access(2) checks the mode.
        #expect(try bench.replica.attributes(of: try bench.number("x")).status.permissions == 0o444)
        #expect(try await bench.read("x") == "one")
    }

    @Test func statement56_enforcedNothingIsAddedToAFolder() async throws {
        let bench = try Bench(enforcing: true)
        try bench.makeFolder("a")
        try await bench.settle()
        bench.store.allow([.reading], of: "a")
        try await bench.settle()
        #expect(throws: ReplicaError.errno(.permissionDenied)) { try bench.makeFolder("a/b") }
        bench.store.allow([.reading, .writing], of: "a")
        try await bench.settle()
        try bench.makeFolder("a/b")
        try await bench.settle()
        #expect(bench.store.item(at: "a/b")?.kind == .folder)
    }

    @Test func statement57_theResultIsAnItemOrAnError() async throws {
        let bench = try Bench()
        bench.store.fail(.createItem, with: .cannotSynchronize("no folders today"))
        try bench.makeFolder("a")
        try await bench.send()
        let error = try await bench.report("a").error
        #expect(error?.code == "cannotSynchronize")
        #expect(error?.message == "no folders today")
        #expect(bench.store.entries.isEmpty)
        #expect(try bench.tree().keys.sorted() == ["a/"])
        bench.domain.retry()
        try await bench.settle()
        #expect(try await bench.report("a").error == nil)
        #expect(bench.store.entries.keys.sorted() == ["a"])
    }
}
