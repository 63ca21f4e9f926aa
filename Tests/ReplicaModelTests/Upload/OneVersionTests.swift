import ReplicaTestSupport
import Testing

@testable import ReplicaModel

/// Stores whose content version changes with the metadata too, and that need not report our own changes.
@Suite struct OneVersionTests {
    private func bench() throws -> Bench {
        let store = MemoryStore()
        store.hasOneVersion = true
        return try Bench(store: store)
    }

    private func touch(_ path: String, _ bench: Bench) throws {
        var change = AttributeChange()
        change.modified = .to(Timestamp(seconds: 1_000, nanoseconds: 1))
        _ = try bench.replica.setAttributes(change, of: try bench.number(path))
    }

    /// Sends without requesting changes, as long as there is anything to send.
    private func send(_ bench: Bench) async throws {
        for _ in 0..<10 {
            bench.pass(400)
            _ = await bench.engine.send()
            try bench.replica.record()
        }
    }

    /// A file that is touched here and, optionally, written by another client before.
    private func touchedFile(isForeign: Bool) async throws -> Bench {
        let bench = try bench()
        try bench.write("text", to: "f")
        try await bench.settle()
        if isForeign { bench.store.write("theirs", to: "f") }
        try touch("f", bench)
        try await send(bench)
        return bench
    }

    @Test func touchedFilesCanBeRemoved() async throws {
        let bench = try await touchedFile(isForeign: false)
        try bench.remove("f")
        try await send(bench)
        #expect(bench.store.entries.isEmpty)
        try await bench.settle()
        #expect(try bench.tree().isEmpty)
    }

    @Test func touchedFilesCanBeWritten() async throws {
        let bench = try await touchedFile(isForeign: false)
        try bench.rename("f", to: "g")
        try await send(bench)
        try bench.write("newer", to: "g")
        try await send(bench)
        #expect(bench.store.text(at: "g") == "newer")
        try await bench.settle()
        #expect(try bench.tree() == ["g": "newer"])
        #expect(bench.store.calls(of: .fetchContents).isEmpty)
    }

    @Test func writesByOthersAreNotTakenForOurs() async throws {
        let bench = try await touchedFile(isForeign: true)
        try bench.write("ours", to: "f")
        try await bench.settle()
        let texts = bench.store.entries.values.map { String(decoding: $0.content, as: UTF8.self) }
        #expect(texts.sorted() == ["ours", "theirs"])
    }

    @Test func writesByOthersAreDownloaded() async throws {
        let bench = try await touchedFile(isForeign: true)
        try await bench.settle()
        #expect(try bench.tree() == ["f": "theirs"])
    }

    @Test func aTouchedPlaceholderStaysDataless() async throws {
        let bench = try bench()
        bench.store.write("theirs", to: "f")
        try await bench.settle()
        let number = try bench.number("f")
        let before = bench.replica.withTree { $0.items[inode: number]?.fingerprint.inode }
        try touch("f", bench)
        try await send(bench)
        #expect(bench.replica.withTree { $0.items[inode: number]?.fingerprint.inode } == before)
        #expect(try await bench.read("f") == "theirs")
    }
}

/// A folder that is created here while the store has an unreported one with its name.
@Suite struct SameFolderTests {
    @Test func foldersOfOneNameAreMerged() async throws {
        let bench = try Bench()
        try await bench.settle()
        bench.store.makeFolder("d")
        bench.store.write("theirs", to: "d/there")
        try bench.makeFolder("d")
        try bench.write("ours", to: "d/here")
        bench.pass(400)
        _ = await bench.engine.send()
        try await bench.settle()
        #expect(bench.store.entries.keys.sorted() == ["d", "d/here", "d/there"])
        #expect(try bench.tree().keys.sorted() == ["d/", "d/here", "d/there"])
    }
}
