import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// A file that is larger than the disks of test machines.
@Suite struct LargeFileTests {
    @Test func randomAccessCostsWhatIsRead() async throws {
        let store = SyntheticStore(size: 10 << 30)
        let bench = try Bench(store: store.memory, through: store)
        store.memory.write("stands for ten gibibytes", to: "big")
        try await bench.settle()
        let number = try bench.number("big")
        #expect(try bench.status("big").st_size == 10 << 30)
        let offsets: [Int64] = [0, 1, 4_294_967_295, 5_000_000_000, 7_777_777_777, (10 << 30) - 1, (10 << 30) - 100]
        for offset in offsets {
            try await bench.engine.hydrate(number, range: offset..<min(offset + 100, 10 << 30))
            #expect(try bench.bytes(of: "big", at: offset, count: 1) == [SyntheticStore.byte(at: offset)])
        }
        let fetched = store.ranges.withLock { $0.reduce(0) { $0 + Int64($1.count) } }
        #expect(fetched <= Int64(offsets.count) * 2 * 131_072)
        #expect(try await bench.report("big").bytesHere == fetched)
        #expect(try Int64(bench.status("big").st_blocks) * 512 < 16 << 20)
        try bench.restart()
        try await bench.engine.hydrate(try bench.number("big"), range: 5_000_000_000..<5_000_000_001)
        #expect(store.ranges.withLock { $0.reduce(0) { $0 + Int64($1.count) } } == fetched)
        try await bench.settle()
        #expect(store.memory.calls(of: .modifyItem).isEmpty)
    }
}

/// A store whose files all have the same size, with bytes that are computed on request.
final class SyntheticStore: StoreWrapper {
    let memory = MemoryStore()
    let size: Int64
    /// The fetched bytes.
    let ranges = Locked<[Range<Int64>]>([])

    var store: any RemoteStore { memory }

    init(size: Int64) { self.size = size }

    static func byte(at offset: Int64) -> UInt8 { UInt8(truncatingIfNeeded: offset / 4096 &* 31 &+ offset &+ 1) }

    func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage {
        var page = try await memory.enumerateItems(in: folder, from: page)
        page.items = page.items.map(enlarged)
        return page
    }

    func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        var batch = try await memory.enumerateChanges(from: anchor)
        batch.updated = batch.updated.map(enlarged)
        return batch
    }

    func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item {
        let range = (range ?? 0..<size).clamped(to: 0..<size)
        ranges.withLock { $0.append(range) }
        try sink.write(range.map(Self.byte), at: range.lowerBound)
        return enlarged(try await memory.item(identifier))
    }

    private func enlarged(_ item: Item) -> Item {
        var item = item
        if item.kind == .file { item.size = size }
        return item
    }
}
