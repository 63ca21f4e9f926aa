import Glibc
import ReplicaTestSupport
import Testing
import Threads

@testable import ReplicaModel

/// The size of batches, and the release of snapshots that are not sent.
@Suite struct BatchTests {
    /// Each started call keeps its content open; large ones are started one by one.
    @Test(arguments: [(size: 5 << 20, begun: 1), (3 << 20, 2), (1 << 20, 4), (1, 16)])
    func aBatchHasAtMostFourMebibytes(_ size: Int, _ begun: Int) async throws {
        let bench = try Bench()
        for index in 0..<begun + 4 {
            try bench.write("", to: "f\(index)")
            let number = try bench.number("f\(index)")
            let file = try bench.replica.open(number, flags: O_WRONLY)
            #expect(ftruncate(file.descriptor, size) == 0)
            close(file.descriptor)
            bench.replica.closed(number, isWriter: true)
        }
        let most = Locked(0)
        let replica = bench.replica
        bench.store.setHooks(before: { call throws(RemoteStoreError) in
            guard call.method == .createItem else { return }
            let inFlight = replica.withTree { $0.pending.values.filter { $0.isInFlight && $0.base == nil }.count }
            most.withLock { $0 = max($0, inFlight) }
        })
        try await bench.send()
        #expect(most.withLock { $0 } == begun)
    }

    /// Changes that the store reports in several batches are all applied after one pull.
    @Test func changesSpanBatches() async throws {
        let bench = try Bench()
        try await bench.settle()
        bench.store.batchSize = 1
        for name in ["x", "y", "z"] { bench.store.write(name, to: name) }
        try await bench.receive()
        #expect(bench.engine.state.withLock { $0.feedTrouble == nil })
        #expect(try bench.tree().keys.sorted() == ["x", "y", "z"])
    }

    /// A file that is edited during the copy is sent later; the copy's file is reused.
    @Test func anEditDuringASnapshotLeaksNoDescriptor() async throws {
        let edit = Locked<(@Sendable () -> Void)?>(nil)
        let bench = try Bench(reading: { file, buffer, offset in
            let count = pread(file, buffer.baseAddress, buffer.count, Int(offset))
            edit.withLock { edit in
                defer { edit = nil }
                return edit
            }?()
            return count
        })
        try bench.write("one", to: "x")
        let number = try bench.number("x")
        let replica = bench.replica
        edit.withLock { $0 = { replica.overwrite(number, with: "two, longer") } }
        try await bench.send()
        #expect(bench.store.calls(of: .createItem).isEmpty)
        #expect(bench.engine.snapshots.idle.withLock { $0.count } == 1)
        try await bench.settle()
        #expect(bench.store.text(at: "x") == "two, longer")
        #expect(bench.engine.snapshots.idle.withLock { $0.count } == 1)
    }
}
