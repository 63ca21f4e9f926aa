import ReplicaTestSupport
import Testing
import Threads

@testable import ReplicaModel

/// A store that is away for an hour, on a clock of the test's own.
@Suite struct OutageTests {
    @Test(arguments: [RemoteStoreError.serverUnreachable, .notAuthenticated])
    func syncCatchesUpAfterAnHoursOutage(_ error: RemoteStoreError) async throws {
        let bench = try Bench()
        for name in ["kept", "moved", "removed", "both"] { try bench.write("old \(name)", to: name) }
        bench.store.write("cold", to: "cold")
        try await bench.settle()
        bench.store.setHooks { _ throws(RemoteStoreError) in throw error }
        bench.store.clearCalls()
        bench.store.write("theirs", to: "both")
        bench.store.write("new", to: "new")
        for minute in 0..<60 {
            switch minute {
            case 0: try bench.write("here", to: "both")
            case 10: try bench.rename("moved", to: "there")
            case 20: try bench.remove("removed")
            case 30: try bench.crash()
            case 40: try bench.restart()
            default: try bench.write("minute \(minute)", to: "kept")
            }
            bench.engine.askNow()
            await bench.engine.receive()
            try await bench.send(after: 60)
            if minute % 7 == 0 {
                await #expect(throws: (any Error).self) { _ = try await bench.read("cold") }
            }
        }
        // Neither given up nor called all the time.
        let count = bench.store.calls.count
        #expect((12...600).contains(count), "\(count) calls")
        #expect(try bench.domain.report().state != .idle)
        #expect(bench.store.text(at: "kept") == "old kept")
        // Nor in a minute of which each second could be that of an attempt.
        bench.store.clearCalls()
        for _ in 0..<60 { try await bench.send(after: 1) }
        #expect(bench.store.calls.count < 40, "\(bench.store.calls.count) calls in a minute")
        bench.store.setHooks()
        // Nobody does anything; only time passes, at most the longest pause between two attempts and a little.
        for _ in 0..<12 {
            await bench.engine.receive()
            try await bench.send(after: 30)
        }
        #expect(bench.store.text(at: "kept") == "minute 59")
        #expect(bench.store.text(at: "there") == "old moved" && bench.store.item(at: "moved") == nil)
        #expect(bench.store.item(at: "removed") == nil)
        #expect(try await bench.read("cold") == "cold")
        #expect(try await bench.read("new") == "new")
        let both = bench.store.entries.keys.filter { $0.hasPrefix("both") }
        #expect(Set(both.compactMap { bench.store.text(at: $0) }) == ["here", "theirs"] && both.count == 2)
        #expect(bench.store.entries.count == 6, "\(bench.store.entries.keys.sorted())")
        try await bench.settle()
        #expect(try bench.domain.report().state == .idle)
    }

    /// When a store goes away, all calls in flight fail at once. The next attempt is not minutes away for that.
    @Test func failuresAtOnceAreOneAttempt() async throws {
        let bench = try Bench()
        try await bench.settle()
        for _ in 0..<10 { bench.engine.noteStoreFailure(.serverUnreachable) }
        let first = try #require(bench.engine.state.withLock { $0.storeFailure })
        #expect(first.attempts == 1)
        #expect(try #require(first.retryAt) <= bench.replica.now() + 1)
        bench.clock.withLock { $0 += 1 }
        bench.engine.noteStoreFailure(.serverUnreachable)
        #expect(bench.engine.state.withLock { $0.storeFailure }?.attempts == 2)
    }
}
