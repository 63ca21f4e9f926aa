import ReplicaTestSupport
import Testing
import Threads

@testable import ReplicaModel

/// An item that is removed or changed between the start of its call and the call itself was never sent: the store is
/// not asked about it.
@Suite struct RemovedWhileSentTests {
    private static let names = (0..<10).map { "f\($0)" }

    /// A bench that changes the other files when the first one arrives in the store.
    private func bench(_ body: @escaping (Bench, String) throws -> Void) throws -> Bench {
        let bench = try Bench()
        let isFirst = Locked(true)
        nonisolated(unsafe) let shared = bench
        nonisolated(unsafe) let action = body
        bench.store.setHooks(before: { (call) async throws(RemoteStoreError) in
            guard call.method == .createItem else { return }
            let isTurn = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard isTurn else { return }
            for name in Self.names where call.template?.filename != FileName(name) {
                #expect(throws: Never.self) { try action(shared, name) }
            }
        })
        for name in Self.names { try bench.write("text of \(name)", to: name) }
        bench.pass(2)
        return bench
    }

    @Test func theStoreIsNotQueried() async throws {
        let bench = try bench { try $0.remove($1) }
        try await bench.settle()
        #expect(bench.store.calls(of: .itemCreated).count == 0)
        #expect(bench.store.calls(of: .createItem).count == 1)
        #expect(bench.store.entries.count == 1)
        #expect(bench.replica.withTree { $0.pending.isEmpty })
    }

    @Test func concurrentWritesAreSentWithoutAQuery() async throws {
        let bench = try bench { try $0.write("newer text of \($1)", to: $1) }
        try await bench.settle()
        #expect(bench.store.calls(of: .itemCreated).count == 0)
        #expect(bench.store.entries.count == Self.names.count)
        let newer = Self.names.filter { bench.store.text(at: $0) == "newer text of \($0)" }
        #expect(newer.count == Self.names.count - 1)
    }

    /// A new file is renamed over another one during its upload: the store's item of its first name is deleted again.
    @Test(arguments: [false, true]) func aRenameOverAnotherFileLeavesNothing(_ isLost: Bool) async throws {
        let bench = try Bench()
        try bench.write("old", to: "doc")
        try await bench.settle()
        nonisolated(unsafe) let shared = bench
        let isFirst = Locked(true)
        let rename = { @Sendable (call: StoreCall) async throws(RemoteStoreError) in
            guard call.method == .createItem, isFirst.withLock({ $0 }) else { return }
            isFirst.withLock { $0 = false }
            #expect(throws: Never.self) { try shared.rename("tmp", to: "doc") }
            if isLost { throw .serverUnreachable }
        }
        isLost ? bench.store.setHooks(after: rename) : bench.store.setHooks(before: rename)
        try bench.write("new", to: "tmp")
        try await bench.settle()
        #expect(!isFirst.withLock { $0 })
        #expect(bench.store.entries.keys.sorted() == ["doc"] && bench.store.text(at: "doc") == "new")
        #expect(try bench.tree() == ["doc": "new"])
        bench.engine.askNow()
        try await bench.settle()
        #expect(try bench.tree() == ["doc": "new"])
    }

    /// The record says that the call may have been made, until it is corrected.
    @Test func aCrashBetweenLosesNothing() async throws {
        let bench = try bench { try $0.write("newer text of \($1)", to: $1) }
        _ = await bench.engine.send()
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.entries.count == Self.names.count)
    }
}
