import Glibc
import ReplicaTestSupport
import Testing

@testable import ReplicaModel

/// Both sides wrote one file: the bytes decide whether that is a conflict.
@Suite struct EqualContentTests {
    private static let long = String(repeating: "x", count: 300_000)

    /// A file that was in sync and was written on both sides; the store's state is received.
    private func written(here: String, there: String) async throws -> Bench {
        let bench = try Bench()
        bench.store.write("old", to: "f")
        try await bench.settle()
        #expect(try await bench.read("f") == "old")
        bench.store.clearCalls()
        try bench.write(here, to: "f")
        bench.store.write(there, to: "f")
        return bench
    }

    @Test(arguments: ["new", long, long + "1"])
    func equalBytesAreNotAConflict(_ text: String) async throws {
        let bench = try await written(here: text, there: text)
        let file = try bench.status("f").st_ino
        try await bench.receive()
        #expect(try bench.domain.conflicts().isEmpty)
        try await bench.settle()
        #expect(try bench.tree() == ["f": text])
        #expect(bench.store.entries.keys.sorted() == ["f"])
        // The file stays, and the content is not transferred again.
        #expect(try bench.status("f").st_ino == file)
        #expect(bench.store.calls(of: .fetchContents).count == 1)
        #expect(bench.store.calls.allSatisfy { !$0.hasContents })
    }

    @Test(arguments: [("new", "neW"), (long + "1", long + "2"), ("new", "newer"), ("new", "")])
    func differentBytesAreAConflict(_ here: String, _ there: String) async throws {
        let bench = try await written(here: here, there: there)
        try await bench.receive()
        #expect(try bench.domain.conflicts().count == 1)
        try await bench.settle()
        for path in bench.store.entries.keys { _ = try await bench.read(path) }
        let tree = try bench.tree()
        #expect(tree.count == 2 && tree["f"] == there && tree.values.contains(here))
        #expect(Set(bench.store.entries.keys.map { bench.store.text(at: $0) }) == [here, there])
    }

    /// If it is written during the comparison, that is an edit that the store lacks.
    @Test func concurrentWritesAreNotLost() async throws {
        let bench = try await written(here: "new", there: "new")
        let replica = bench.replica
        let number = try bench.number("f")
        bench.store.setHooks(after: { call throws(RemoteStoreError) in
            if call.method == .fetchContents { replica.overwrite(number, with: "even newer") }
        })
        try await bench.receive()
        bench.store.setHooks()
        try await bench.settle()
        #expect(bench.store.entries.keys.contains { bench.store.text(at: $0) == "even newer" })
    }
}
