import ReplicaTestSupport
import Testing
import Threads

@testable import ReplicaModel

/// The wall clock may be set at any time, by years: nothing is delayed, and nothing happens early.
@Suite struct RunClockTests {
    /// In seconds: ten days, and some 28 years, either way.
    private static let jumps: [Double] = [-900_000_000, -864_000, -10, 10, 864_000, 900_000_000]

    private static func makeBench(_ store: MemoryStore = MemoryStore()) throws -> Bench {
        try Bench(store: store, clockSet: 2_000_000_000)
    }

    @Test(arguments: jumps)
    func aRunIgnoresChangesOfTheWallClock(_ jump: Double) {
        let (wall, counted) = (Locked(2_000_000_000.0, rank: .innermost), Locked(50.0, rank: .innermost))
        let clock = RunClock(wall: { wall.withLock { $0 } }, counted: { counted.withLock { $0 } })
        #expect(clock.now() == 2_000_000_000)
        wall.withLock { $0 += jump + 5 }
        counted.withLock { $0 += 5 }
        #expect(clock.now() == 2_000_000_005)
        let soon = Timestamp(secondsSince1970: 2_000_000_005 + jump + 7)
        #expect(clock.wallTime(of: clock.now() + 7) == soon)
    }

    @Test(arguments: [
        (retryAt: 100.0, now: 100.0, bounded: 100.0), (399, 100, 399), (400, 100, 400), (401, 100, 400),
        (3e9, 100, 400), (100, 3e9, 100), (.infinity, 0, 300),
    ])
    func noRetryIsLaterThanTheLongestPause(_ retryAt: Double, _ now: Double, _ bounded: Double) {
        #expect(Backoff.bounded(retryAt, now: now) == bounded)
    }

    @Test(arguments: jumps)
    func anEditIsSentAfterTheDebounce(_ jump: Double) async throws {
        let bench = try Self.makeBench()
        try bench.write("one", to: "x")
        bench.clockSet.withLock { $0 += jump }
        try await bench.send(after: 0.5)
        #expect(bench.store.item(at: "x") == nil)
        try await bench.send(after: 0.6)
        #expect(bench.store.text(at: "x") == "one")
    }

    @Test(arguments: jumps)
    func failuresAreRetriedInTheNextRun(_ jump: Double) async throws {
        let bench = try Self.makeBench()
        bench.store.fail(.createItem, with: .itemUnavailable("not now"))
        try bench.write("one", to: "x")
        try await bench.send(after: 1.1)
        #expect(bench.store.item(at: "x") == nil)
        bench.clockSet.withLock { $0 += jump }
        try bench.restart()
        let error = try #require(try await bench.report("x").error)
        let now = Timestamp(secondsSince1970: bench.replica.clock.wall())
        #expect(try #require(error.retryAt).seconds <= now.seconds + 300)
        try await bench.send(after: 0)
        try await bench.send(after: 300)
        #expect(bench.store.text(at: "x") == "one")
    }

    /// The time of the next retry is reported in wall-clock time.
    @Test(arguments: jumps)
    func theNextRetryIsReportedInWallClockTime(_ jump: Double) async throws {
        let bench = try Self.makeBench()
        bench.store.fail(.createItem, with: .itemUnavailable("not now"), times: .max)
        try bench.write("one", to: "x")
        try await bench.send(after: 1.1)
        bench.clockSet.withLock { $0 += jump }
        let now = bench.replica.clock.wall()
        let next = try #require(try bench.domain.report().nextTry).secondsSince1970
        #expect((now...now + 301).contains(next))
        let own = try #require(try await bench.report("x").error?.retryAt).secondsSince1970
        #expect((now...now + 301).contains(own))
    }

    /// A window of deletions continues after a restart.
    @Test(arguments: [-900_000_000.0, 864_000])
    func deletionsAreCountedAcrossARestart(_ jump: Double) async throws {
        let store = MemoryStore()
        for index in 0..<201 { store.write("\(index)", to: "f\(index)") }
        let bench = try Self.makeBench(store)
        try await bench.settle()
        for index in 0..<60 { store.delete("f\(index)") }
        try await bench.exchange()
        #expect(try bench.tree().count == 141)
        bench.clockSet.withLock { $0 += jump }
        try bench.restart()
        for index in 60..<120 { store.delete("f\(index)") }
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(try bench.tree().count == 201)
    }

    /// The most recently used files stay longest; times of earlier runs with a fast clock don't count.
    @Test(arguments: jumps)
    func filesUsedInEarlierRunsAreEvictedFirst(_ jump: Double) async throws {
        let store = MemoryStore()
        for name in ["a", "b"] { store.write(name, to: name) }
        let bench = try Self.makeBench(store)
        bench.replica.withTree { $0.store.recordsUse = true }
        try await bench.settle()
        #expect(try await bench.read("a") == "a")
        try bench.replica.record()
        bench.pass(120)
        bench.clockSet.withLock { $0 += jump }
        try bench.restart()
        bench.replica.withTree { $0.store.recordsUse = true }
        bench.pass(120)
        #expect(try await bench.read("b") == "b")
        try bench.replica.record()
        let numbers = try bench.replica.evictionCandidates()
        let own = try ["a", "b"].map { try bench.number($0) }
        #expect(numbers == own)
        // After another read it is the most recently used one.
        bench.pass(120)
        #expect(try await bench.read("a") == "a")
        try bench.replica.record()
        let now = try bench.replica.evictionCandidates()
        #expect(now == own.reversed())
    }
}
