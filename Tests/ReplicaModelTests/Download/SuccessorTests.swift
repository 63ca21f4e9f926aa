import ReplicaTestSupport
import SystemPackage
import Testing
import Threads

@testable import ReplicaModel

/// A file of the store that is moved over another there: programs save this way, and mean newer content of the other.
@Suite struct SuccessorTests {
    private static func bench() async throws -> Bench {
        let bench = try Bench()
        bench.store.write("old", to: "x")
        bench.store.write("newer", to: "beside")
        try await bench.settle()
        return bench
    }

    @Test(arguments: [false, true])
    func anItemMovedOverAFileBecomesThatFile(isWhole: Bool) async throws {
        let bench = try await Self.bench()
        let number = try bench.number("x")
        if isWhole { #expect(try await bench.read("x") == "old") }
        let moved = bench.store.move("beside", to: "x")
        try await bench.settle()
        #expect(try bench.number("x") == number)
        #expect(bench.replica.withTree { $0.items[moved.identifier]?.number } == number)
        // The local content stays.
        #expect(try await bench.report("x").materialization == (isWhole ? .whole : .dataless))
        #expect(try await bench.read("x") == "newer")
        #expect(try bench.tree() == ["x": "newer"])
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
    }

    @Test func aPinIsKept() async throws {
        let bench = try await Self.bench()
        try await bench.domain.pin(Bench.names("x"))
        bench.store.move("beside", to: "x")
        try await bench.settle()
        #expect(try await bench.report("x").pin == .pinned)
    }

    /// Its content would have to be fetched again.
    @Test func localContentIsNotFetchedAgain() async throws {
        let bench = try await Self.bench()
        #expect(try await bench.read("beside") == "newer")
        let number = try bench.number("beside")
        bench.store.move("beside", to: "x")
        try await bench.settle()
        #expect(try bench.number("x") == number)
        #expect(try bench.tree() == ["x": "newer"])
    }

    /// The fetched content belongs to the file, regardless of its place at the end of the fetch.
    @Test func theEndOfAFetchMovesNoFileBack() async throws {
        let bench = try await Self.bench()
        for name in ["x", "beside"] { _ = try await bench.read(name) }
        let engine = bench.engine { $0.isSequential = false }
        let barrier = Barrier()
        bench.store.hold(.fetchContents, at: barrier)
        bench.store.write("newest", to: "beside")
        try await bench.until("the content is asked for") {
            await engine.receive()
            return engine.state.withLock { !$0.arrivals.updating.isEmpty }
        }
        bench.store.move("beside", to: "x")
        try await bench.until("it has moved") {
            engine.askNow()
            await engine.receive()
            return try bench.tree().keys.sorted() == ["x"]
        }
        barrier.lift()
        try await bench.until("the content is here") { engine.state.withLock { $0.arrivals.updating.isEmpty } }
        #expect(try bench.tree().keys.sorted() == ["x"])
        await engine.receive()
        #expect(try bench.tree() == ["x": "newest"])
        #expect(bench.store.calls(of: .fetchContents).count == 3)
    }

    /// Content that other clients write into an empty file was not requested.
    @Test func emptyFilesAreNotFetched() async throws {
        let bench = try Bench()
        bench.store.write("old", to: "x")
        bench.store.write("", to: "beside")
        try await bench.settle()
        let number = try bench.number("x")
        bench.store.write("newer", to: "beside")
        try await bench.settle()
        #expect(try await bench.report("beside").materialization == .dataless)
        bench.store.move("beside", to: "x")
        try await bench.settle()
        #expect(bench.store.calls(of: .fetchContents).isEmpty)
        #expect(try bench.number("x") == number)
        #expect(try await bench.read("x") == "newer")
    }

    @Test func anEditOfAMovedItemIsSent() async throws {
        let bench = try await Self.bench()
        try bench.write("edited", to: "beside")
        let moved = bench.store.move("beside", to: "x")
        try await bench.settle()
        #expect(bench.store.text(at: "x") == "edited")
        #expect(bench.store.item(at: "x")?.identifier == moved.identifier)
    }

    /// An item that is missing because another has its identifier was not removed by a user.
    @Test func aCrashDeletesNothing() async throws {
        let bench = try await Self.bench()
        bench.store.move("beside", to: "x")
        await bench.engine.pull()
        for (_, change) in try bench.replica.incoming(after: 0, limit: 10) {
            if let item = change.item {
                _ = try bench.replica.apply(item, asked: change.asked)
            } else {
                _ = try bench.replica.applyDeletion(of: change.identifier)
            }
        }
        #expect(try bench.tree().keys.sorted() == ["x"])
        // Before the applied changes are recorded.
        try bench.crash()
        try await bench.settle()
        #expect(bench.store.calls(of: .deleteItem).isEmpty)
        #expect(bench.store.text(at: "x") == "newer")
        #expect(try await bench.read("x") == "newer")
    }
}
