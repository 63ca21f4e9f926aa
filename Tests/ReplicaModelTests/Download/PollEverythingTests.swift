import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// A store that looks for changes only where somebody waits for them, and forgets that when its look fails.
private final class PolledStore: StoreWrapper {
    struct Looks {
        var isWanted = false
        /// How many are still to fail, and how.
        var failures = 0
        var error = RemoteStoreError.serverUnreachable
    }
    let memory = MemoryStore()
    let looks = Locked(Looks())
    var store: any RemoteStore { memory }

    func pollEverything() { looks.withLock { $0.isWanted = true } }

    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        let (isWanted, error) = looks.withLock { looks -> (Bool, RemoteStoreError?) in
            defer { looks.isWanted = false }
            guard looks.isWanted, looks.failures > 0 else { return (looks.isWanted, nil) }
            looks.failures -= 1
            return (true, looks.error)
        }
        if let error { throw error }
        if isWanted { return try await memory.enumerateChanges(from: anchor) }
        return ChangeBatch(updated: [], deleted: [], anchor: anchor, moreComing: false)
    }
}

/// A wait covers everything that the store has: a poll of everything that fails is retried.
@Suite struct PollEverythingTests {
    @Test(arguments: [RemoteStoreError.serverUnreachable, .malformedAnswer("nonsense")])
    func aWaitEndsWithASuccessfulPoll(error: RemoteStoreError) async throws {
        let polled = PolledStore()
        let bench = try Bench(store: polled.memory, through: polled)
        try await bench.settle()
        polled.memory.write("news", to: "f")
        try await bench.settle()
        #expect(try bench.tree().isEmpty)
        polled.looks.withLock { ($0.failures, $0.error) = (6, error) }
        let (domain, isDone) = (bench.domain, Locked(false))
        let waiting = Task {
            try await domain.waitForStabilization(isShown: true)
            isDone.withLock { $0 = true }
        }
        try await bench.until("the wait has ended") {
            bench.pass(400)
            await bench.engine.receive()
            _ = await bench.engine.send()
            return isDone.withLock { $0 }
        }
        waiting.cancel()
        #expect(polled.looks.withLock { $0.failures } == 0)
        #expect(try bench.tree().keys.sorted() == ["f"])
    }
}
