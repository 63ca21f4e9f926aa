import Glibc
import SystemPackage
import Testing

@testable import ReplicaModel
@testable import ReplicaTestSupport
@testable import Threads

/// Endless answers: each is aborted in time and reported, and blocks nothing else.
@Suite(.serialized) struct EndlessAnswerTests {
    private static func page(_ number: Int) -> EnumerationPage {
        EnumerationPage(bytes: [0xFF] + Array("\(number)".utf8))
    }

    /// Endless pages, with items or without.
    @Test(arguments: ["the same page", "other pages", "two pages in turn"], [true, false])
    func anEndlessListingIsAborted(kind: String, isEmpty: Bool) async throws {
        let store = HostileStore()
        let bench = try Bench(store: store.memory, through: store)
        store.memory.write("one", to: "folder/one")
        let folder = try await settled(bench, "folder")
        let asked = Locked(0)
        store.answer {
            $0.page = { page, _ in
                let count = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                let number = kind == "the same page" ? 1 : kind == "other pages" ? count : count % 2
                return ItemPage(items: isEmpty ? [] : page.items, next: Self.page(number))
            }
        }
        await #expect(throws: Errno.ioError) { try await bench.engine.list(folder) }
        #expect(asked.withLock { $0 } < 1_000)
        try bench.write("here", to: "mine")
        try await bench.send()
        #expect(store.memory.text(at: "mine") == "here")
        store.repent()
        try await bench.engine.list(folder)
        #expect(try bench.replica.entries(of: folder).map(\.name.description) == ["one"])
    }

    private func settled(_ bench: Bench, _ path: String) async throws -> ItemNumber {
        try await bench.settle()
        return try bench.number(path)
    }

    @Test(arguments: [true, false]) func anEndlessFeedIsAborted(isStanding: Bool) async throws {
        let store = HostileStore()
        let bench = try Bench(store: store.memory, through: store)
        try await bench.settle()
        let asked = Locked(0)
        let anchor = try await store.memory.currentAnchor()
        store.answer {
            $0.batch = { batch in
                let count = asked.withLock { asked in
                    asked += 1
                    return asked
                }
                let next = isStanding ? anchor : SyncAnchor("\(batch.anchor.bytes.count)-\(count)")
                return ChangeBatch(updated: [], deleted: [], anchor: next, moreComing: true)
            }
        }
        try bench.write("here", to: "mine")
        try await bench.receive()
        try await bench.send()
        #expect(asked.withLock { $0 } < 1_000)
        #expect(store.memory.text(at: "mine") == "here")
        #expect(try bench.domain.report().state == .offline)
        store.repent()
        store.memory.write("there", to: "yours")
        try await bench.settle()
        #expect(try await bench.read("yours") == "there")
    }

    /// A store that reports every name as taken does not cause endless renames.
    @Test func endlessCollisionsAreAborted() async throws {
        let store = HostileStore()
        let bench = try Bench(store: store.memory, through: store)
        try await bench.settle()
        store.answer { $0.create = { _ throws(RemoteStoreError) in throw .filenameCollision(nil) } }
        try bench.write("mine", to: "x")
        for _ in 0..<20 { try await bench.send(after: 400) }
        let name = try #require(try bench.replica.entries(of: .root).first?.name.description)
        #expect(name.count <= 12, "\(name)")
        #expect(try await bench.report(name).error?.code == "filenameCollision")
    }

    /// The same bytes, again and again.
    @Test func anEndlessFetchIsAborted() async throws {
        let store = HostileStore()
        let bench = try Bench(store: store.memory, through: store)
        store.memory.write("0123456789", to: "x")
        try await bench.settle()
        store.answer {
            $0.fetch = { item, _, sink throws(RemoteStoreError) in
                let block = [UInt8](repeating: 66, count: 4 << 20)
                while true { try sink.write(block, at: 0) }
            }
        }
        let number = try bench.number("x")
        await #expect(throws: Errno.ioError) { try await bench.engine.hydrate(number, range: nil) }
        #expect(try await bench.report("x").materialization == .dataless)
    }

    /// An endless listing that the domain waits for does not prevent its stop.
    @Test func anEndlessListingDoesNotDelayAStop() async throws {
        let store = HostileStore()
        let counter = Locked(0)
        store.answer {
            $0.page = { page, _ in
                let count = counter.withLock { counter in
                    counter += 1
                    return counter
                }
                let item = Item(
                    identifier: ItemIdentifier("e\(count)"), parent: .root, filename: FileName("e\(count)"),
                    kind: .file,
                    version: ItemVersion(content: "1", metadata: "1"))
                return ItemPage(items: [item], next: Self.page(count))
            }
        }
        let own = try BenchFolder()
        try own.state.makeDomain()
        let domain = try Domain.open(own.state, store: store, log: DomainBench.quiet)
        domain.start()
        #expect(try await eventually { counter.withLock { $0 } >= 50 })
        try await domain.stop()
    }
}
