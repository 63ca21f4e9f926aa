import Glibc
import ReplicaTestSupport
import SystemPackage
import Testing

@testable import ReplicaModel

/// Stores whose content version may stay the same for different bytes: a rewrite that restores size and time.
@Suite struct RewriteTests {
    private func bench(_ text: String? = "aaaa") async throws -> Bench {
        let store = MemoryStore()
        store.properties.reportsEveryContentChange = false
        let bench = try Bench(store: store)
        if let text { try bench.write(text, to: "f") }
        try await bench.settle()
        bench.store.clearCalls()
        return bench
    }

    private func fetches(_ bench: Bench) -> Int {
        defer { bench.store.clearCalls() }
        return bench.store.calls(of: .fetchContents).count
    }

    @Test func reportedContentsAreComparedAndFetched() async throws {
        let bench = try await bench()
        bench.store.rewrite("bbbb", at: "f", isReported: true)
        try await bench.settle()
        #expect(try bench.tree() == ["f": "bbbb"])
        #expect(bench.store.entries.keys.sorted() == ["f"] && bench.store.text(at: "f") == "bbbb")
        // Once for the comparison, once to replace the local content.
        #expect(fetches(bench) == 2)
        try await bench.settle()
        #expect(fetches(bench) == 0)
    }

    @Test func equalContentStaysAndIsReadOnce() async throws {
        let bench = try await bench()
        let before = try bench.number("f")
        bench.store.rewrite("aaaa", at: "f", isReported: true)
        try await bench.settle()
        #expect(fetches(bench) == 1)
        let generation = bench.replica.withTree { $0.items[before]?.generation }
        #expect(generation == 0)
        try await bench.settle()
        #expect(fetches(bench) == 0)
    }

    @Test func aMetadataVersionAloneCausesNoRead() async throws {
        let bench = try await bench()
        // The feed observed that nothing was written.
        bench.store.rewrite("aaaa", at: "f", isReported: false)
        try await bench.settle()
        #expect(fetches(bench) == 0)
    }

    @Test func aStoreThatReportsEveryContentChangeIsNotRead() async throws {
        let bench = try await bench()
        bench.store.properties.reportsEveryContentChange = true
        bench.store.rewrite("aaaa", at: "f", isReported: false)
        bench.store.expireAnchors()
        try await bench.settle()
        #expect(fetches(bench) == 0)
    }

    /// For an unobserved change, only the metadata version shows it.
    @Test func unobservedChangesAreCompared() async throws {
        let bench = try await bench()
        bench.store.rewrite("bbbb", at: "f", isReported: false)
        bench.store.expireAnchors()
        try await bench.settle()
        #expect(try bench.tree() == ["f": "bbbb"])
        #expect(fetches(bench) == 2)
        bench.store.rewrite("bbbb", at: "f", isReported: false)
        bench.store.expireAnchors()
        try await bench.settle()
        #expect(fetches(bench) == 1)
        bench.store.expireAnchors()
        try await bench.settle()
        #expect(fetches(bench) == 0)
    }

    @Test func datalessContentIsNotRead() async throws {
        let bench = try await bench(nil)
        bench.store.write("aaaa", to: "f")
        try await bench.settle()
        bench.store.rewrite("bbbb", at: "f", isReported: true)
        try await bench.settle()
        #expect(fetches(bench) == 0)
        let found = try await bench.read("f")
        #expect(found == "bbbb")
    }

    /// The local parts of a file are dropped, so that it is never a mixture of both contents.
    @Test func localPartsOfARewrittenFileAreDropped() async throws {
        let bench = try await bench(nil)
        bench.store.write([UInt8](repeating: 1, count: 400_000), to: "g")
        try await bench.settle()
        let number = try await bench.find("g")
        try await bench.engine.hydrate(number, range: 0..<10)
        #expect(try await bench.report("g").materialization == .partial)
        let other = String(repeating: "\u{2}", count: 400_000)
        bench.store.rewrite(other, at: "g", isReported: true)
        try await bench.settle()
        #expect(try await bench.report("g").bytesHere == 0)
        let found = try await bench.read("g")
        #expect(found == String(other.prefix(1 << 16)))
    }

    @Test func anEditThatIsPendingIsAConflict() async throws {
        let bench = try await bench()
        try bench.write("mine", to: "f")
        bench.store.rewrite("bbbb", at: "f", isReported: true)
        try await bench.settle()
        #expect(bench.store.text(at: "f") == "bbbb")
        let texts = try bench.tree().values.compactMap { $0 }
        let found = try await bench.read("f")
        #expect(texts == ["mine"] && found == "bbbb")
    }

    /// It is unknown whether it was written: a different mode alone is not a conflict.
    @Test func anEditWinsOverAnUnobservedRewrite() async throws {
        let bench = try await bench()
        try bench.write("mine", to: "f")
        bench.store.rewrite("aaaa", at: "f", isReported: false)
        bench.store.expireAnchors()
        try await bench.settle()
        #expect(try bench.tree() == ["f": "mine"])
        #expect(bench.store.text(at: "f") == "mine")
    }

    /// A report about the content stays valid until it is handled, also if the item changes again.
    @Test func aLaterChangeDoesNotHideARewrite() async throws {
        let bench = try await bench()
        bench.store.rewrite("bbbb", at: "f", isReported: true)
        await bench.engine.pull()
        bench.store.rewrite("bbbb", at: "f", isReported: false)
        try await bench.settle()
        #expect(try bench.tree() == ["f": "bbbb"])
    }

    @Test func aFileOpenForWritingIsComparedLater() async throws {
        let bench = try await bench()
        let number = try bench.number("f")
        let file = try bench.replica.open(number, flags: O_WRONLY)
        bench.store.rewrite("bbbb", at: "f", isReported: true)
        bench.engine.askNow()
        await bench.engine.receive()
        #expect(try bench.tree() == ["f": "aaaa"])
        close(file.descriptor)
        bench.replica.closed(number, isWriter: true)
        try await bench.settle()
        #expect(try bench.tree() == ["f": "bbbb"])
    }
}
