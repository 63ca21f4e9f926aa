import ReplicaTestSupport
import Testing

@testable import ReplicaModel

/// design.md §8: more than half of a domain never goes without a person's word.
@Suite struct MassDeletionTests {
    private func makeBench(_ count: Int) async throws -> Bench {
        let store = MemoryStore()
        for index in 0..<count { store.write("\(index)", to: "f\(index)") }
        let bench = try Bench(store: store)
        try await bench.settle()
        return bench
    }

    private func delete(_ numbers: Range<Int>, _ bench: Bench) {
        for index in numbers { bench.store.delete("f\(index)") }
    }

    @Test func moreThanHalfWaitsForAPerson() async throws {
        let bench = try await makeBench(150)
        delete(0..<140, bench)
        try await bench.exchange()
        #expect(try bench.tree().count == 150)
        let report = try bench.domain.report()
        #expect(report.state == .held)
        #expect(report.reason?.contains("140 items") == true)
        // Nothing changes that by itself, nor by a restart.
        try bench.restart()
        try await bench.exchange()
        #expect(try bench.tree().count == 150)
        #expect(try bench.domain.report().state == .held)
        #expect(bench.domain.approve() == 140)
        try await bench.settle()
        #expect(try bench.tree().count == 10)
        #expect(try bench.domain.report().state == .idle)
        #expect(bench.store.calls(of: .createItem).isEmpty)
    }

    @Test func whatIsChangedHereIsStillSent() async throws {
        let bench = try await makeBench(150)
        delete(0..<150, bench)
        try await bench.exchange()
        try bench.write("ours", to: "new")
        try await bench.exchange()
        #expect(bench.store.text(at: "new") == "ours")
        #expect(try bench.tree().count == 151)
    }

    @Test func anApprovalCountsOnce() async throws {
        let bench = try await makeBench(300)
        delete(0..<160, bench)
        try await bench.exchange()
        #expect(bench.domain.approve() == 160)
        try await bench.settle()
        #expect(try bench.tree().count == 140)
        delete(160..<290, bench)
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(try bench.tree().count == 140)
        #expect(bench.domain.approve() == 130)
        try await bench.settle()
        #expect(try bench.tree().count == 10)
    }

    @Test func aFewOrLessThanHalfGo() async throws {
        let few = try await makeBench(60)
        delete(0..<60, few)
        try await few.settle()
        #expect(try few.tree().isEmpty)
        let fewer = try await makeBench(250)
        delete(0..<110, fewer)
        try await fewer.settle()
        #expect(try fewer.tree().count == 140)
    }

    @Test func aFolderCountsWithAllThatIsInIt() async throws {
        let store = MemoryStore()
        for index in 0..<150 { store.write("\(index)", to: "d/f\(index)") }
        let bench = try Bench(store: store)
        try await bench.settle()
        try await bench.domain.download(Bench.names("d"), waits: true)
        store.delete("d")
        try await bench.exchange()
        #expect(try bench.domain.report().state == .held)
        #expect(try bench.tree().count == 151)
    }

    @Test func approvingNothingIsNothing() async throws {
        let bench = try await makeBench(3)
        #expect(bench.domain.approve() == 0)
    }

    @Test func whereNothingWasDeletedNothingIsRecordedToCount() async throws {
        let bench = try await makeBench(1)
        try bench.write("ours", to: "new")
        #expect(bench.replica.countDeletions() == (0, 0))
        #expect(bench.replica.hasChanges)
    }
}
