import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel
@testable import Threads

/// Fetches whose bytes are not as declared.
@Suite struct FetchedBytesTests {
    /// A fetch whose answer is not the item's content.
    struct Lie: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var fetch: HostileStore.Fetch

        static let all = [
            Lie(testDescription: "one byte of ten") { item, _, sink throws(RemoteStoreError) in
                try sink.write([66], at: 0)
                return item
            },
            Lie(testDescription: "nothing") { item, _, _ in item },
            Lie(testDescription: "all but one in the middle") { item, _, sink throws(RemoteStoreError) in
                try sink.write([UInt8](repeating: 66, count: 4), at: 0)
                try sink.write([UInt8](repeating: 66, count: 5), at: 5)
                return item
            },
            Lie(testDescription: "another item's") { item, _, sink throws(RemoteStoreError) in
                try sink.write([UInt8](repeating: 66, count: 10), at: 0)
                return item.with { $0.identifier = ItemIdentifier("other") }
            },
            Lie(testDescription: "another version's") { item, _, sink throws(RemoteStoreError) in
                try sink.write([UInt8](repeating: 66, count: 10), at: 0)
                return item.with { $0.version.content = "other" }
            },
            Lie(testDescription: "another size's") { item, _, sink throws(RemoteStoreError) in
                try sink.write([66], at: 0)
                return item.with { $0.size = 1 }
            },
            Lie(testDescription: "before the first byte") { item, _, sink throws(RemoteStoreError) in
                try sink.write([UInt8](repeating: 66, count: 10), at: .min)
                return item
            },
            Lie(testDescription: "after the last offset") { item, _, sink throws(RemoteStoreError) in
                try sink.write([UInt8](repeating: 66, count: 10), at: .max)
                return item
            },
            Lie(testDescription: "a folder's") { item, _, sink throws(RemoteStoreError) in
                try sink.write([UInt8](repeating: 66, count: 10), at: 0)
                return item.with { $0.kind = .folder }
            },
        ]
    }

    /// A program's first read returns the store's content, or an error.
    @Test(arguments: Lie.all)
    func aFailedFirstReadIsRepeated(lie: Lie) async throws {
        let store = HostileStore()
        let bench = try Bench(store: store.memory, through: store)
        store.memory.write("0123456789", to: "x")
        try await bench.settle()
        store.answer { $0.fetch = lie.fetch }
        let number = try bench.number("x")
        await #expect(throws: Errno.ioError) { try await bench.engine.hydrate(number, range: nil) }
        #expect(try await bench.report("x").materialization == .dataless)
        #expect(try await bench.report("x").error?.code == "malformedAnswer")
        store.repent()
        #expect(try await bench.read("x") == "0123456789")
        #expect(try await bench.report("x").error == nil)
    }

    /// Newer content of a complete file replaces it only when it is complete.
    @Test(arguments: Lie.all)
    func aFailedUpdateIsRepeated(lie: Lie) async throws {
        let store = HostileStore()
        let bench = try Bench(store: store.memory, through: store)
        store.memory.write("old", to: "x")
        store.memory.write("one", to: "y")
        try await bench.settle()
        #expect(try await bench.read("x") == "old")
        store.answer { $0.fetch = lie.fetch }
        store.memory.write("0123456789", to: "x")
        try await bench.receive()
        #expect(try bench.tree()["x"] == "old")
        #expect(try await bench.report("x").error?.code == "malformedAnswer")
        // The others continue.
        #expect(bench.engine.state.withLock { $0.storeFailure } == nil)
        try bench.write("here", to: "z")
        try await bench.send()
        #expect(store.memory.text(at: "z") == "here")
        store.repent()
        try await bench.settle()
        #expect(try bench.tree()["x"] == "0123456789")
        #expect(try await bench.report("x").error == nil)
    }

    /// A store may send more than the item has: none of it is kept.
    @Test func fetchedBytesStayWithinTheSize() async throws {
        let store = HostileStore()
        let bench = try Bench(store: store.memory, through: store)
        store.memory.write("old", to: "x")
        try await bench.settle()
        #expect(try await bench.read("x") == "old")
        let taken = Locked(0)
        store.answer {
            $0.fetch = { item, _, sink throws(RemoteStoreError) in
                for block in 0..<64 {
                    try sink.write([UInt8](repeating: 66, count: 1 << 20), at: Int64(block) << 20)
                    taken.withLock { $0 += 1 }
                }
                return item
            }
        }
        store.memory.write("four", to: "x")
        try await bench.receive()
        #expect(taken.withLock { $0 } == 0)
        #expect(try bench.tree()["x"] == "old")
    }
}

extension Item {
    /// The item with something changed.
    func with(_ change: (inout Item) -> Void) -> Item {
        var item = self
        change(&item)
        return item
    }
}
