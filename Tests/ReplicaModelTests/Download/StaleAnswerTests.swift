import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// Reports about an item that are older than our own call about it (docs/decisions/what-is-stale.md).
@Suite struct StaleAnswerTests {
    /// A call that did not find its item proves no deletion until the changes since then were read: the file may have been replaced.
    @Test func missingItemsAreKeptUntilTheChangesAreRead() async throws {
        let bench = try Bench()
        bench.store.write("one", to: "x")
        try await bench.settle()
        #expect(try await bench.read("x") == "one")
        let number = try bench.number("x")
        bench.store.delete("x")
        bench.store.write("two", to: "x")
        bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
            if call.method == .enumerateChanges { throw .serverUnreachable }
        })
        try bench.setAttributes(of: "x") { $0.mode = 0o600 }
        try await bench.send()
        #expect(bench.store.calls(of: .modifyItem).count == 1)
        for _ in 0..<3 { try await bench.receive() }
        #expect(try bench.tree() == ["x": "one"])
        bench.store.setHooks()
        try await bench.settle()
        #expect(try await bench.read("x") == "two")
        #expect(try bench.number("x") == number)
        #expect(try bench.tree() == ["x": "two"])
        #expect(bench.store.entries.keys.sorted() == ["x"])
    }

    /// An outdated report of a deletion is verified; the change noted from the answer is not confused with it.
    @Test func aConfirmedDeletionIsApplied() async throws {
        let bench = try Bench()
        bench.store.write("one", to: "x")
        try await bench.settle()
        let identifier = try #require(bench.store.item(at: "x")?.identifier)
        bench.store.delete("x")
        try bench.replica.noteIncoming([Incoming(identifier: identifier, item: nil, asked: 0)], anchor: nil)
        // The feed was read since it was first missed.
        bench.engine.state.withLock { $0.pulls.suspects[identifier] = $0.pulls.done }
        await bench.engine.applyIncoming()
        #expect(try bench.tree().isEmpty)
        #expect(bench.store.calls(of: .item).map(\.identifier) == [identifier])
    }

    /// The store's changes are requested, their answer is in flight while `body` runs, then they are noted.
    private static func whileAskingForChanges(_ bench: Bench, _ body: () async throws -> Void) async throws {
        let (barrier, isAnswered) = (Barrier(), Locked(false))
        bench.store.setHooks(after: { (call) async throws(RemoteStoreError) in
            guard call.method == .enumerateChanges else { return }
            isAnswered.withLock { $0 = true }
            try await barrier.pass()
        })
        let engine = bench.engine
        let pull = Task { await engine.pull() }
        try await bench.until("the answer") { isAnswered.withLock { $0 } }
        try await body()
        barrier.lift()
        await pull.value
        bench.store.setHooks()
    }

    /// A folder that was moved, and removed right before a crash: the store's report of its old place comes late.
    @Test func aReportNotedAfterTheAnswerExplainsNoAbsence() async throws {
        let bench = try Bench()
        try await bench.settle()
        try bench.makeFolder("old")
        try bench.makeFolder("old/d")
        try await bench.send()
        try await bench.send()
        try await Self.whileAskingForChanges(bench) {
            try bench.rename("old/d", to: "d")
            try await bench.send()
            try bench.remove("old", isFolder: true)
            try await bench.send()
        }
        #expect(bench.store.entries.keys.sorted() == ["d"])
        try bench.remove("d", isFolder: true)
        try bench.crash()
        try await bench.settle()
        #expect(try bench.tree().isEmpty)
        #expect(bench.store.entries.isEmpty)
    }

    /// An item blocks another one's name in the store, where another client moved it; its own move is answered before
    /// that error is noted.
    @Test func anOlderErrorDoesNotOverrideANewerAnswer() async throws {
        let store = MemoryStore()
        let bench = try Bench(store: store, through: SilentFeed(store: store))
        store.write("text", to: "moved")
        store.makeFolder("folder")
        try await bench.settle()
        for folder in ["", "folder"] { try await bench.engine.list(try await bench.find(folder)) }
        let identifier = try #require(bench.store.item(at: "moved")?.identifier)
        try bench.rename("moved", to: "folder/other")
        try bench.write("new", to: "taken")
        let inTheWay = bench.store.move("moved", to: "taken")
        bench.pass(400)
        let calls = try ["folder/other", "taken"].map { path -> OutgoingCall in
            guard case .send(let call) = try bench.replica.beginCall(try bench.number(path), settle: 1) else {
                throw ReplicaError.errno(.resourceBusy)
            }
            return call
        }
        let engine = bench.engine
        bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
            guard call.method == .createItem else { return }
            await engine.upload(calls[0])
            throw .filenameCollision(inTheWay)
        })
        await engine.upload(calls[1])
        bench.store.setHooks()
        try await bench.settle()
        #expect(bench.store.item(at: "folder/other")?.identifier == identifier)
        #expect(try Set(bench.tree().keys) == Set(bench.store.entries.keys.map { $0 == "folder" ? "folder/" : $0 }))
    }

    @Test func forgettingAnswersMakesOlderReportsStale() {
        var answers = AnswerLog()
        let (one, other) = (ItemIdentifier("one"), ItemIdentifier("other"))
        let before = answers.count
        answers.noteCall(about: one)
        let after = answers.count
        #expect(answers.isStale(one, asked: before))
        #expect(!answers.isStale(other, asked: before))
        #expect(!answers.isStale(one, asked: after))
        answers.forget(upTo: after)
        // It is no longer known which of them the answer was about.
        #expect(answers.isStale(one, asked: before))
        #expect(answers.isStale(other, asked: before))
        #expect(!answers.isStale(one, asked: after))
    }
}
