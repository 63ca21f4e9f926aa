import Logging
import PathStore
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// What a store leaves out is in the status and in the log.
@Suite struct LeftOutItemTests {
    private static let table: [(Int, String, Int, String?)] = [
        (0, "unused", 0, nil), (-5, "unused", 0, nil), (1, "a//b", 1, "1 item of the store is left out: a//b"),
        (7, "a//b", 7, "7 items of the store are left out, one of them: a//b"),
        (.max, "x", 1_000_000_000, "1000000000 items of the store are left out, one of them: x"),
        (
            1, String(repeating: "y", count: 900), 1,
            "1 item of the store is left out: \(String(repeating: "y", count: 255))…"
        ),
    ]

    @Test(arguments: table.indices) func theStatusTells(index: Int) async throws {
        let (count, example, errors, reason) = Self.table[index]
        let store = MemoryStore()
        let bench = try Bench(store: store, through: LeavingOut(store, LeftOutItems(count: count, example: example)))
        try await bench.settle()
        let report = try bench.domain.report()
        #expect(report.errors == errors && report.reason == reason && report.state == .idle)
    }

    /// From a storage's listing through the store over paths and the engine to the status.
    @Test func whatAStorageLeavesOutIsReportedUntilItIsRenamed() async throws {
        let storage = MemoryPathStorage(PathStorageProperties())
        let table = try TemporaryFolder()
        let store = try PathStore(storage, folder: table.path.string, options: .alwaysListing)
        let (bench, log) = (try Bench(through: store), LogLines())
        let engine = SyncEngine(
            replica: bench.replica, store: store, options: bench.options, wakeSignal: bench.wakeSignal,
            log: log.logger(.info))
        let domain = Domain(
            replica: bench.replica, engine: engine, store: store, wakeSignal: bench.wakeSignal, lock: -1)
        storage.put("text", at: "good")
        storage.forge(.file, at: StoragePath([FileName("..")]), content: [1])
        for _ in 0..<3 {
            engine.askNow()
            bench.pass(400)
            await engine.receive()
        }
        let report = try domain.report()
        #expect(report.errors == 1 && report.reason == "1 item of the store is left out: ..")
        #expect(try bench.tree().keys.sorted() == ["good"])
        // Not one for each listing.
        let lines = log.lines.filter { $0.contains("left out") }
        #expect(lines == ["items of the store are left out count=1 example=.."])
        storage.take("..")
        engine.askNow()
        bench.pass(400)
        await engine.receive()
        #expect(try domain.report().errors == 0 && domain.report().reason == nil)
    }

    /// The name of an item that the engine itself rejects is told too.
    @Test func anInvalidItemIsNamed() async throws {
        let bench = try Bench()
        try await bench.settle()
        bench.store.add(.file, to: .root, FileName(".."))
        try await bench.settle()
        #expect(try bench.domain.report().reason == "1 item of the store is left out: ..")
    }
}

/// A store that reports with each batch that it leaves something out.
private struct LeavingOut: StoreWrapper {
    let store: any RemoteStore
    let items: LeftOutItems

    init(_ store: any RemoteStore, _ items: LeftOutItems) { (self.store, self.items) = (store, items) }

    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        var batch = try await store.enumerateChanges(from: anchor)
        batch.leftOut = items
        return batch
    }
}
