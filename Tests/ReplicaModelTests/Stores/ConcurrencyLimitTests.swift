import ReplicaModel
import ReplicaTestSupport
import Testing
import Threads

@Suite struct ConcurrencyLimitTests {
    @Test func concurrencyIsLimited() async throws {
        let gate = ConcurrencyLimit(3)
        let inside = Locked((now: 0, most: 0, all: 0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    try await gate.enter()
                    inside.withLock {
                        $0.now += 1
                        $0.all += 1
                        $0.most = max($0.most, $0.now)
                    }
                    await Task.yield()
                    inside.withLock { $0.now -= 1 }
                    gate.leave()
                }
            }
            try await group.waitForAll()
        }
        #expect((1...3).contains(inside.withLock { $0.most }))
        #expect(inside.withLock { $0.all } == 50)
    }

    @Test func waitersCanBeCancelled() async throws {
        let gate = ConcurrencyLimit(1)
        try await gate.enter()
        let second = Task { try await gate.enter() }
        second.cancel()
        let outcome = await second.result
        #expect(throws: RemoteStoreError.cancelled) { try outcome.get() }
        gate.leave()
        try await gate.enter()
    }
}
