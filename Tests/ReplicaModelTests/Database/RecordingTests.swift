import ReplicaTestSupport
import Testing
import Threads

@testable import ReplicaModel

/// The database can't be written for a while, for example on a full disk: no change is forgotten.
@Suite struct RecordingTests {
    private struct Refused: Error {}

    /// A failed attempt, and then one that succeeds.
    private static func recordAtSecondAttempt(_ bench: Bench) throws {
        #expect(throws: Refused.self) { try bench.replica.record { _ in throw Refused() } }
        #expect(bench.replica.recording.withLock { $0.failure } != nil)
        try bench.replica.record()
        #expect(bench.replica.recording.withLock { $0.failure } == nil)
    }

    private static func row(of number: ItemNumber, _ bench: Bench) throws -> ItemRow? {
        try bench.replica.database.read { try ItemRow.of(number, in: $0) }
    }

    /// Which parts of a file are here is still known after a restart.
    @Test func fetchedRangesAreRecorded() async throws {
        let bench = try Bench()
        bench.store.write(String(repeating: "x", count: 1_000_000), to: "f")
        try await bench.settle()
        let number = try bench.number("f")
        for start in [Int64(0), 700_000] { try await bench.engine.hydrate(number, range: start..<start + 1) }
        let known = try #require(bench.replica.withTree { $0.items[number]?.ranges })
        #expect(known.ranges.count == 2)
        try bench.restart()
        _ = try bench.number("f")
        #expect(bench.replica.withTree { $0.items[number]?.ranges } == known)
    }

    @Test func changesAreRecordedLater() async throws {
        let bench = try Bench()
        for name in ["removed", "edited"] { bench.store.write("old", to: name) }
        try await bench.settle()
        for name in ["removed", "edited"] { _ = try await bench.read(name) }
        try bench.write("passing", to: "passing")
        try bench.replica.record()
        let (removed, edited) = (try bench.number("removed"), try bench.number("edited"))
        let passing = try bench.number("passing")
        #expect(try Self.row(of: passing, bench) != nil)
        try bench.remove("removed")
        try bench.remove("passing")
        try bench.write("mine", to: "edited")
        try bench.write("mine", to: "new")
        let new = try bench.number("new")
        try Self.recordAtSecondAttempt(bench)
        #expect(try Self.row(of: removed, bench)?.flags.contains(.deleted) == true)
        #expect(try Self.row(of: passing, bench) == nil)
        #expect(try Self.row(of: edited, bench)?.dirty.contains(.contents) == true)
        #expect(try Self.row(of: new, bench)?.name == FileName("new"))
    }

    /// A full disk stays full for a while.
    @Test func nothingIsTriedRightAfterAFailure() async throws {
        let bench = try Bench()
        try await bench.settle()
        try bench.write("ours", to: "ours")
        bench.store.write("theirs", to: "theirs")
        bench.pass(2)
        #expect(throws: Refused.self) { try bench.replica.record { _ in throw Refused() } }
        let next = await bench.engine.send()
        #expect(next == bench.replica.recordingRest && next != nil)
        await bench.engine.receive()
        #expect(bench.store.calls(of: .createItem).isEmpty)
        #expect(try bench.tree().keys.sorted() == ["ours"])
        bench.pass(6)
        try await bench.settle()
        #expect(bench.store.text(at: "ours") == "ours")
        #expect(try bench.tree().keys.sorted() == ["ours", "theirs"])
    }

    /// One is removed before an attempt that fails, another during it: no row of either stays.
    @Test func itemsRemovedBeforeRecordingHaveNoRow() async throws {
        let bench = try Bench()
        for name in ["before", "during"] { try bench.write("passing", to: name) }
        let numbers = try ["before", "during"].map(bench.number)
        try bench.replica.record()
        try bench.remove("before")
        #expect(throws: Refused.self) {
            try bench.replica.record { _ in
                try bench.remove("during")
                throw Refused()
            }
        }
        try bench.replica.record()
        for number in numbers { #expect(try Self.row(of: number, bench) == nil) }
    }

    @Test func supersededStatesAreRecordedLater() async throws {
        let bench = try Bench()
        let identifier = bench.store.write("old", to: "file").identifier
        try await bench.settle()
        let number = try bench.number("file")
        bench.replica.withTree { tree in
            guard let node = tree.items[number] else { return }
            tree.supersede(node, .contents)
            tree.unrecorded.noteAside(ItemRow(node))
        }
        try Self.recordAtSecondAttempt(bench)
        let (superseded, aside) = try bench.replica.database.read { rows in
            (try SupersededRows.of(identifier, before: .max, in: rows), try SetAsideRows.all(in: rows))
        }
        #expect(superseded.map(\.number) == [number.rawValue])
        #expect(aside.map(\.number) == [number.rawValue])
    }

    /// Reports that are older than an answered call stay outdated after a crash.
    @Test func answersAreRecordedLater() async throws {
        let bench = try Bench()
        let item = bench.store.write("old", to: "file")
        try await bench.settle()
        let asked = bench.replica.answers
        try bench.replica.noteIncoming(
            [Incoming(identifier: item.identifier, item: item, asked: asked)], anchor: nil)
        bench.replica.withTree { $0.store.answers.noteCall(about: item.identifier) }
        try Self.recordAtSecondAttempt(bench)
        let noted = try bench.replica.database.read { try Incoming.read(after: 0, limit: 9, from: $0).map(\.1.asked) }
        #expect(noted == [0])
    }

    /// Numbers reserved while the database could not be written are not used twice.
    @Test func numbersAreNotUsedTwiceAfterACrash() async throws {
        let bench = try Bench()
        // More than were reserved at the start.
        bench.replica.withTree { $0.items.numbers.skip(1 << 20) }
        #expect(throws: Refused.self) { try bench.replica.record { _ in throw Refused() } }
        try bench.replica.record()
        try bench.write("1", to: "one")
        let one = try bench.number("one")
        try bench.remove("one")
        try bench.crash()
        try bench.write("2", to: "two")
        #expect(try bench.number("two") > one)
    }
}
