import Foundation
import GRDB
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// A store that answers as told when it is asked whether it is the same one as before.
private final class Stranger: StoreWrapper {
    let memory: MemoryStore
    private let answer = Locked<RemoteStoreError?>(nil)
    /// How often it was asked that.
    let asked = Locked(0)
    var store: any RemoteStore { memory }

    init(_ memory: MemoryStore) { self.memory = memory }

    /// Sets the answer; nil if it is the same.
    func say(_ error: RemoteStoreError?) { answer.withLock { $0 = error } }

    func recognize(_ anchor: SyncAnchor) async throws(RemoteStoreError) {
        asked.withLock { $0 += 1 }
        if let error = answer.withLock({ $0 }) { throw error }
    }
}

/// If the store is a different one than before, or can't tell, it gets no call, and nothing is deleted because it is missing there.
@Suite struct OtherStoreTests {
    private static let another = RemoteStoreError.cannotSynchronize("it is another")
    /// In words that could be ours.
    private static let unlike = RemoteStoreError.cannotSynchronize("the database cannot be read: it is another")

    /// A bench at the start of a run, with a new file, whose store is empty.
    /// - Returns: Also the store's earlier state.
    private func makeBench(saying error: RemoteStoreError) async throws -> (Bench, Stranger, MemoryStore.Moment) {
        let stranger = Stranger(MemoryStore())
        let bench = try Bench(store: stranger.memory, through: stranger)
        bench.store.write("theirs", to: "theirs")
        try bench.write("ours", to: "ours")
        try await bench.settle()
        let moment = bench.store.moment
        try bench.restart()
        for path in ["ours", "theirs"] { bench.store.delete(path) }
        try bench.write("new", to: "new")
        bench.store.clearCalls()
        stranger.say(error)
        return (bench, stranger, moment)
    }

    /// What only the former store had may be nowhere else.
    @Test(arguments: [another, unlike, .serverUnreachable])
    func aRemovalPreservesAllLocalFiles(_ error: RemoteStoreError) async throws {
        let (bench, stranger, _) = try await makeBench(saying: error)
        for _ in 0..<3 { try await bench.send(after: 400) }
        let isStopped = try await bench.domain.evict([], isStrict: false)
        #expect(isStopped.items == 0)
        // Another run that does not ask the store knows no more.
        try bench.restart()
        bench.engine.state.withLock { $0.storeFailure = nil }
        try bench.replica.close()
        let removal = try bench.folders.remove(keep: .dirty, name: "photos")
        let folder = try #require(removal.preserved)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.string).sorted().contains("ours"))
        withExtendedLifetime(stranger) {}
    }

    @Test(arguments: [another, unlike, .serverUnreachable])
    func anUnrecognizedStoreGetsNoCall(_ error: RemoteStoreError) async throws {
        let (bench, stranger, moment) = try await makeBench(saying: error)
        // Neither the sender nor the receiver calls it.
        for _ in 0..<3 { try await bench.send(after: 400) }
        #expect(bench.store.calls.isEmpty)
        #expect(try bench.domain.report().state == .offline)
        // It is asked more and more rarely.
        let asked = stranger.asked.withLock { $0 }
        for _ in 0..<20 { try await bench.send(after: 1) }
        #expect((1...5).contains(stranger.asked.withLock { $0 } - asked))
        for _ in 0..<3 { try await bench.exchange() }
        #expect(bench.store.calls.isEmpty)
        #expect(try bench.tree().keys.sorted() == ["new", "ours", "theirs"])
        let report = try bench.domain.report()
        #expect(report.state == .offline && report.reason != nil)
        stranger.say(nil)
        bench.store.goBack(to: moment)
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["new", "ours", "theirs"])
        #expect(try bench.tree().keys.sorted() == ["new", "ours", "theirs"])
        #expect(try bench.domain.report().state == .idle)
    }

    @Test func aUserMayApproveAnotherStore() async throws {
        let (bench, _, _) = try await makeBench(saying: Self.another)
        try await bench.exchange()
        #expect(try bench.domain.report().reason?.contains("it is another") == true)
        #expect(bench.domain.approve() == 0)
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["new"])
        #expect(try bench.tree() == ["new": "new"])
        #expect(try bench.domain.report().state == .idle)
    }

    /// A call that was running when the store turned out to be a different one does not clear the question, however it ends.
    @Test(arguments: [nil, RemoteStoreError.serverUnreachable])
    func aCallInFlightDoesNotApproveTheStore(_ error: RemoteStoreError?) async throws {
        let stranger = Stranger(MemoryStore())
        let bench = try Bench(store: stranger.memory, through: stranger)
        try bench.write("ours", to: "ours")
        try await bench.settle()
        let barrier = Barrier()
        bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
            if call.method == .enumerateChanges {
                stranger.say(Self.another)
                throw Self.another
            }
            guard call.method == .createItem else { return }
            try await barrier.pass()
            if let error { throw error }
        })
        try bench.write("new", to: "new")
        bench.pass(2)
        let (engine, store) = (bench.engine, bench.store)
        let sending = Task { _ = await engine.send() }
        try await bench.until("a call is under way") { !store.calls(of: .createItem).isEmpty }
        engine.askNow()
        await engine.receive()
        barrier.lift()
        await sending.value
        #expect(try bench.domain.report().reason?.contains("it is another") == true)
        let calls = store.calls.count
        try bench.write("newer", to: "newer")
        try await bench.send(after: 0.9)
        #expect(store.calls.count == calls)
        #expect(engine.state.withLock { $0.isOtherStore })
    }

    /// What fails here says nothing about the store.
    @Test func aDatabaseFailureIsNotAnotherStore() async throws {
        let bench = try Bench()
        bench.store.write("theirs", to: "f")
        try await bench.settle()
        try bench.replica.database.write { try $0.execute(sql: "ALTER TABLE incoming RENAME TO away") }
        bench.store.write("news", to: "g")
        try await bench.receive()
        let failure = try #require(bench.engine.state.withLock { $0.storeFailure })
        #expect(failure.isHere && failure.message.hasPrefix("the database cannot be"), "\(failure)")
        #expect(bench.engine.isStoreAnswering)
        #expect(try bench.domain.report().state == .offline)
        try bench.replica.database.write { try $0.execute(sql: "ALTER TABLE away RENAME TO incoming") }
        try await bench.settle()
        #expect(try bench.tree().keys.sorted() == ["f", "g"])
    }
}
