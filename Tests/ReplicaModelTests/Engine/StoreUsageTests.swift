import ReplicaTestSupport
import Testing
import Threads

@testable import ReplicaModel

/// The store's space, as statfs(2) shows it: whatever the store reports, and without waiting for it.
@Suite struct StoreUsageTests {
    private typealias Case = (total: Int64?, used: Int64?, free: Int64?, expected: [Int64]?)

    /// Total, used and free, and the consistent numbers that are made of them; nil for none.
    private static let cases: [Case] = [
        (100, 40, 60, [100, 40, 60]), (100, 40, nil, [100, 40, 60]), (100, nil, 60, [100, 40, 60]),
        (nil, 40, 60, [100, 40, 60]),
        // Some space is reserved, or is that of a trash.
        (100, 40, 50, [100, 40, 50]),
        (nil, 40, nil, nil), (100, nil, nil, nil), (nil, nil, 60, nil), (nil, nil, nil, nil), (0, 0, 0, nil),
        // More used than there is, and more free.
        (100, 140, nil, [100, 100, 0]), (100, 140, 50, [100, 100, 0]), (100, nil, 160, [100, 0, 100]),
        (100, 40, 90, [100, 40, 60]),
        // Nextcloud's -3: no limit.
        (nil, 40, -3, nil), (-1, 40, 60, [100, 40, 60]), (100, -40, 60, [100, 40, 60]), (.min, .min, .min, nil),
        (nil, .max, .max, [.max, .max, 0]), (.max, 1, .max, [.max, 1, .max - 1]), (1, .max, .max, [1, 1, 0]),
    ]

    @Test func impossibleNumbersAreMadeConsistent() {
        for one in Self.cases {
            let usage = StoreUsage(total: one.total, used: one.used, free: one.free)
            #expect(usage.map { [$0.total, $0.used, $0.free] } == one.expected, "\(one)")
        }
        let blocks = StoreUsage(blocks: .max, free: .max, available: 1, of: .max)
        #expect(blocks.map { [$0.total, $0.used, $0.free] } == [.max, 0, .max])
        #expect(StoreUsage(blocks: 10, free: 20, available: 30, of: 1) == StoreUsage(total: 10, used: 0))
        #expect(StoreUsage(blocks: 10, free: 5, available: 3, of: 4096)?.free == 12_288)
        #expect(StoreUsage(blocks: 0, free: 5, available: 3, of: 4096) == nil)
    }

    /// A bench in sync, whose engine answers requests for the store's space.
    private static func started(
        _ store: MemoryStore, through remote: (any RemoteStore)? = nil
    ) async throws -> (Bench, Task<Void, Never>) {
        let bench = try Bench(store: store, through: remote)
        // Not before it is known to be the right store.
        #expect(bench.engine.usage() == nil)
        await bench.engine.refreshUsage()
        #expect(store.calls(of: .usage).isEmpty)
        let engine = bench.engine
        let running = Task { await engine.runUsage() }
        try await bench.settle()
        return (bench, running)
    }

    @Test func usageIsRequestedInTheBackgroundAtMostOnceAMinute() async throws {
        let store = MemoryStore()
        store.space = StoreUsage(total: 100, used: 40)
        let (bench, running) = try await Self.started(store)
        defer { running.cancel() }
        try await bench.until("it is known without a call of statfs") {
            bench.engine.knownUsage.withLock { $0.usage } == StoreUsage(total: 100, used: 40)
        }
        store.space = StoreUsage(total: 100, used: 50)
        bench.pass(61)
        // The last numbers; then the new ones.
        #expect(bench.engine.usage()?.used == 40)
        try await bench.until("it is requested again") { bench.engine.knownUsage.withLock { $0.usage?.used } == 50 }
        let count = store.calls(of: .usage).count
        store.space = StoreUsage(total: 100, used: 60)
        for _ in 0..<20 {
            bench.pass(2)
            #expect(bench.engine.usage()?.used == 50)
            try await Task.sleep(for: .milliseconds(2))
        }
        #expect(store.calls(of: .usage).count == count)
        bench.pass(30)
        _ = bench.engine.usage()
        try await bench.until("a minute has passed") { bench.engine.knownUsage.withLock { $0.usage?.used } == 60 }
        #expect(store.calls(of: .usage).count == count + 1)
    }

    /// Nobody may ask for an hour: the numbers are not older than that even then.
    @Test func usageIsRequestedEveryHour() async throws {
        let store = MemoryStore()
        store.space = StoreUsage(total: 100, used: 40)
        let (bench, running) = try await Self.started(store)
        defer { running.cancel() }
        try await bench.until("it is known") { bench.engine.knownUsage.withLock { $0.usage } != nil }
        store.space = StoreUsage(total: 100, used: 50)
        bench.pass(3_600)
        bench.engine.askNow()
        await bench.engine.receive()
        // How often is not said: a request of the start may still be waiting.
        try await bench.until("it is requested") { bench.engine.knownUsage.withLock { $0.usage?.used } == 50 }
    }

    /// Statfs returns at once, however long the store is silent, and what was known stays.
    @Test func aSilentStoreIsNotAwaited() async throws {
        let silent = SilentStore()
        silent.memory.space = StoreUsage(total: 100, used: 40)
        let (bench, running) = try await Self.started(silent.memory, through: silent)
        defer { running.cancel() }
        try await bench.until("it is known") { bench.engine.knownUsage.withLock { $0.usage } != nil }
        silent.fallSilent(at: .usage)
        for _ in 0..<5 {
            bench.pass(100)
            #expect(bench.engine.usage()?.used == 40)
            try await Task.sleep(for: .milliseconds(5))
        }
        try await bench.until("it hangs") { silent.hung == 1 }
        silent.memory.space = StoreUsage(total: 100, used: 50)
        silent.speak()
        try await bench.until("it answers") { bench.engine.knownUsage.withLock { $0.usage?.used } == 50 }
        silent.memory.setHooks(before: { call throws(RemoteStoreError) in
            if call.method == .usage { throw .serverUnreachable }
        })
        bench.pass(100)
        await bench.engine.refreshUsage()
        #expect(bench.engine.usage()?.used == 50)
        // Nothing else suffers from it.
        #expect(bench.engine.state.withLock { $0.storeFailure } == nil)
    }
}
