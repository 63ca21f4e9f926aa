import ReplicaTestSupport
import Testing
import Threads

@testable import ReplicaModel

/// MODEL.md#deletion: questions and repeated reports during a mass deletion.
@Suite struct UnconfirmedDeletionTests {
    /// An item that is in no listing, and about which the store gives no answer, is not deleted yet.
    @Test func anUnconfirmedDeletionIsNotCounted() async throws {
        let bench = try await Bench.withFiles(150)
        let certain = try #require(bench.store.item(at: "f140")?.identifier)
        bench.deleteFiles(0..<141)
        bench.store.expireAnchors()
        bench.store.setHooks(before: { call throws(RemoteStoreError) in
            if call.method == .item, call.identifier != certain { throw .itemUnavailable("not now") }
        })
        try await bench.exchange()
        #expect(try bench.tree().count == 149)
        #expect(try bench.domain.report().state == .syncing)
        try bench.restart()
        bench.store.setHooks()
        bench.pass(400)
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(try bench.tree().count == 149)
        #expect(bench.domain.approve() == 140)
        try await bench.settle()
        #expect(try bench.tree().count == 9)
    }

    /// A question deletes nothing, and does not wait for the user.
    @Test func itemsAreQueriedWhileDeletionsAreHeld() async throws {
        let bench = try await Bench.withFiles(150)
        bench.store.makeFolder("unlisted")
        try await bench.settle()
        let moved = try #require(bench.store.item(at: "f149")?.identifier)
        bench.deleteFiles(0..<140)
        bench.store.move("f149", to: "unlisted/f149")
        bench.store.expireAnchors()
        let isRefused = Locked(true)
        bench.store.setHooks(before: { call throws(RemoteStoreError) in
            guard call.method == .item, call.identifier == moved, isRefused.withLock({ $0 }) else { return }
            throw .itemUnavailable("not now")
        })
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(try bench.tree().keys.contains("f149"))
        isRefused.withLock { $0 = false }
        bench.pass(400)
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(try !bench.tree().keys.contains("f149"))
        #expect(try bench.tree().keys.contains("f0"))
    }

    /// Repeated calls that don't find their items are not new deletions.
    @Test func anApprovalCoversRepeatedDeletions() async throws {
        let bench = try await Bench.withFiles(150)
        for index in 0..<140 { try bench.setAttributes(of: "f\(index)") { $0.mode = 0o600 } }
        bench.deleteFiles(0..<140)
        for _ in 0..<4 {
            try await bench.receive()
            try await bench.send(after: 400)
        }
        #expect(try bench.domain.report().state == .held)
        #expect(bench.domain.approve() == 140)
        try await bench.settle()
        #expect(try bench.domain.report().state == .idle)
    }
}
