import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// A domain that stops ends what goes on by itself: afterwards another process may serve it.
@Suite struct StopTests {
    /// A listing whose reader is gone, and whose call does not heed its end.
    @Test func aListingEndsBeforeTheStop() async throws {
        try await DomainBench.run { bench in
            bench.store.write("theirs", to: "d/x")
            try await bench.settle()
            let (isAsked, isOpen) = (Locked(false), Locked(false))
            bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
                guard call.method == .enumerateItems else { return }
                isAsked.withLock { $0 = true }
                // Not in this task, which is cancelled.
                await Task { while !isOpen.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(5)) } }.value
            })
            let domain = bench.domain
            let reader = Task { try await bench.withItem("d") { try await domain.list($0) } }
            try await bench.until("the store is asked") { isAsked.withLock { $0 } }
            let isStopped = Locked(false)
            let stop = Task {
                try await domain.stop()
                isStopped.withLock { $0 = true }
            }
            try await bench.until("it stops") { domain.engine.isStopping.withLock { $0 } }
            try await Task.sleep(for: .milliseconds(200))
            #expect(!isStopped.withLock { $0 })
            isOpen.withLock { $0 = true }
            try await stop.value
            #expect(domain.engine.listings.withLock { $0.isEmpty })
            _ = await reader.result
        }
    }

    @Test func aStopCancelsADownload() async throws {
        try await DomainBench.run { bench in
            bench.store.write("theirs", to: "x")
            try await bench.settle()
            let calls = HeldCalls()
            let (isAsked, isCancelled) = (Locked(false), Locked(false))
            bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
                guard call.method == .fetchContents else { return }
                isAsked.withLock { $0 = true }
                do throws(RemoteStoreError) { try await calls.pass() } catch {
                    isCancelled.withLock { $0 = true }
                    throw error
                }
            })
            try await bench.domain.download(DomainBench.names("x"), waits: false)
            try await bench.until("the store is asked") { isAsked.withLock { $0 } }
            try await bench.domain.stop()
            #expect(isCancelled.withLock { $0 })
        }
    }
}
