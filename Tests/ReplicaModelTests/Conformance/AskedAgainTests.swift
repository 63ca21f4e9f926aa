import ReplicaTestSupport
import Testing
import Threads

@testable import ReplicaModel

/// MODEL.md#deletion: what is only asked for, and what is told again, while the store deletes much.
@Suite struct AskedAgainTests {
    /// An item that is in no listing, and that the store says nothing about, is no deletion yet.
    @Test func whatNobodySaysIsGoneIsNotCounted() async throws {
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

    /// A question takes nothing, and does not wait for a person.
    @Test func whatIsOnlyAskedForIsAskedWhileDeletionsAreHeld() async throws {
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

    /// A call for each finds that its item is gone, again and again, and is no news.
    @Test func anApprovalCountsForWhatIsToldAgain() async throws {
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
