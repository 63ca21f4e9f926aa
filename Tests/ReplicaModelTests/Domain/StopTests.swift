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
            let opening = Task {
                try? await Task.sleep(for: .milliseconds(200))
                isOpen.withLock { $0 = true }
            }
            try await domain.stop()
            #expect(isOpen.withLock { $0 })
            #expect(domain.engine.listings.withLock { $0.isEmpty })
            await opening.value
            _ = await reader.result
        }
    }

    @Test func aStopDoesNotWaitForTheStore() async throws {
        try await DomainBench.run { bench in
            bench.store.write("theirs", to: "x")
            try await bench.settle()
            let calls = HeldCalls()
            let isAsked = Locked(false)
            bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
                guard call.method == .fetchContents else { return }
                isAsked.withLock { $0 = true }
                try await calls.pass()
            })
            try await bench.domain.download(DomainBench.names("x"), waits: false)
            try await bench.until("the store is asked") { isAsked.withLock { $0 } }
            try await bench.domain.stop()
        }
    }
}
