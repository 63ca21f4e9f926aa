import ReplicaTestSupport
import Testing
import Threads

@testable import ReplicaModel

/// A store that requests a pause is not called for that time, and not much longer.
@Suite struct PauseTests {
    @Test func noCallIsMadeDuringAPause() async throws {
        let bench = try Bench()
        try await bench.settle()
        bench.store.fail(.createItem, with: .busy(seconds: 700), times: 1)
        try bench.write("one", to: "x")
        try bench.write("two", to: "y")
        try await bench.send()
        bench.store.clearCalls()
        let said = try bench.domain.report()
        #expect(said.state == .offline && said.reason == "the store is busy and asks for a pause")
        let wait = try #require(said.nextTry).secondsSince1970 - bench.replica.now()
        #expect(wait > 690 && wait <= 700)
        // Also if a caller waits, the store signals, or a program reads.
        try await bench.engine.awaited {
            bench.engine.state.withLock { $0.earlyRetry.isSignalled = true }
            for _ in 0..<20 {
                bench.engine.askNow()
                await bench.engine.receive()
                try await bench.send(after: 30)
            }
        }
        await #expect(throws: RemoteStoreError.self) { try await bench.engine.store.item(.root) }
        #expect(bench.store.calls.isEmpty)
        try await bench.send(after: 101)
        #expect(bench.store.entries.keys.sorted() == ["x", "y"])
        try await bench.settle()
        #expect(try bench.domain.report().state == .idle)
    }

    @Test func noPullIsMadeDuringAPause() async throws {
        let bench = try Bench()
        try await bench.settle()
        bench.store.fail(.enumerateChanges, with: .busy(seconds: 100), times: 1)
        bench.engine.askNow()
        await bench.engine.receive()
        bench.store.clearCalls()
        try bench.write("one", to: "x")
        for _ in 0..<9 {
            bench.engine.askNow()
            await bench.engine.receive()
            try await bench.send(after: 10)
        }
        #expect(bench.store.calls.isEmpty)
        try await bench.settle()
        #expect(bench.store.text(at: "x") == "one")
    }

    @Test func thePauseIsLimited() async throws {
        let bench = try Bench()
        try await bench.settle()
        bench.store.fail(.createItem, with: .busy(seconds: 1e300), times: 1)
        try bench.write("one", to: "x")
        try await bench.send()
        #expect(bench.engine.pause.left == StorePause.longest)
        try await bench.send(after: 899)
        #expect(bench.store.entries.isEmpty)
        try await bench.send(after: 2)
        #expect(bench.store.text(at: "x") == "one")
    }

    @Test(arguments: ["retry", "resolved"]) func aRetryEndsThePause(_ word: String) async throws {
        let bench = try Bench()
        try await bench.settle()
        bench.store.fail(.createItem, with: .busy(seconds: 600), times: 1)
        try bench.write("one", to: "x")
        try await bench.send()
        if word == "retry" { bench.domain.retry() } else { try bench.domain.resolved("busy") }
        try await bench.send()
        #expect(bench.store.text(at: "x") == "one")
    }

    /// A reader waits for the end of a short pause, and gets an error in a long one.
    @Test func aReaderWaitsForAShortPause() async throws {
        let store = MemoryStore()
        let pause = StorePause(now: { ContinuousClock.now.secondsForTests })
        let paused = PausedStore(store: store, pause: pause, longestPauseSeconds: 2)
        store.fail(.item, with: .busy(seconds: 0.2), times: 1)
        let begin = ContinuousClock.now
        #expect(try await paused.item(.root).identifier == .root)
        #expect(.now - begin >= .milliseconds(200))
        pause.begin(60)
        store.clearCalls()
        await #expect(throws: RemoteStoreError.self) { try await paused.item(.root) }
        #expect(store.calls.isEmpty)
    }

    /// A store that always requests a tiny pause is not called in a tight loop.
    @Test func aTinyPauseEnds() async throws {
        let store = MemoryStore()
        let paused = PausedStore(
            store: store, pause: StorePause(now: { ContinuousClock.now.secondsForTests }), longestPauseSeconds: 0.5)
        store.fail(.item, with: .busy(seconds: 1e-9), times: .max)
        await #expect(throws: RemoteStoreError.self) { try await paused.item(.root) }
        #expect(store.calls(of: .item).count <= 6)
    }

    /// Without a time it is like any transient failure.
    @Test func withoutATimeTheEngineBacksOff() async throws {
        let bench = try Bench()
        bench.store.fail(.createItem, with: .busy(seconds: 0), times: 5)
        try bench.write("one", to: "x")
        try await bench.settle()
        #expect(bench.store.text(at: "x") == "one")
        #expect(bench.store.calls(of: .createItem).count == 6)
    }
}

extension ContinuousClock.Instant {
    fileprivate var secondsForTests: Double {
        let (seconds, attoseconds) = (self - ContinuousClock.Instant.zero).components
        return Double(seconds) + Double(attoseconds) / 1e18
    }

    private static let zero = ContinuousClock.now
}
