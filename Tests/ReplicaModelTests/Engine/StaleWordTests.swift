import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// What the store said of an item before our own call about it (docs/decisions/what-is-stale.md).
@Suite struct StaleWordTests {
    /// An old word of a deletion is asked about; what the answer notes in its place is not taken for it.
    @Test func aDeletionThatIsConfirmedIsMade() async throws {
        let bench = try Bench()
        bench.store.write("one", to: "x")
        try await bench.settle()
        let identifier = try #require(bench.store.item(at: "x")?.identifier)
        bench.store.delete("x")
        try bench.replica.noteIncoming([Incoming(identifier: identifier, item: nil, asked: 0)], anchor: nil)
        // The feed was asked since it was first missed.
        bench.engine.state.withLock { $0.suspects[identifier] = $0.pullsDone }
        await bench.engine.applyIncoming()
        #expect(try bench.tree().isEmpty)
        #expect(bench.store.calls(of: .item).map(\.identifier) == [identifier])
    }

    /// The store's changes are asked for, and their answer is under way while `body` runs; then they are noted.
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

    /// A folder that was moved, and removed right before a crash: the store's word of its old place comes late.
    @Test func aWordNotedAfterTheAnswerExplainsNothing() async throws {
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

    @Test func whatIsForgottenMakesOlderWordsDoubtful() {
        var answers = AnswerLog()
        let (one, other) = (ItemIdentifier("one"), ItemIdentifier("other"))
        let before = answers.count
        answers.noteCall(about: one)
        let after = answers.count
        #expect(answers.isStale(one, asked: before))
        #expect(!answers.isStale(other, asked: before))
        #expect(!answers.isStale(one, asked: after))
        answers.forget(upTo: after)
        // Which of them the answer was about is not known any more.
        #expect(answers.isStale(one, asked: before))
        #expect(answers.isStale(other, asked: before))
        #expect(!answers.isStale(one, asked: after))
    }
}
