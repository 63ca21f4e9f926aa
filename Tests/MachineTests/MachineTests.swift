import Foundation
import ReplicaTestSupport
import Testing

/// Several machines change one domain at the same time, on each kind of store.
///
/// `scripts/fault-test --machines N SEED` has many more.
@Suite struct MachineTests {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    private static let (runs, seed) = (number("REPLICA_MACHINE_RUNS") ?? 1, UInt64(number("REPLICA_MACHINE_SEED") ?? 1))

    @Test(arguments: SharedPlace.Kind.allCases, [2, 5])
    func allReplicasConvergeAndNothingIsLost(_ kind: SharedPlace.Kind, _ count: Int) async throws {
        for seed in Self.seed..<Self.seed + UInt64(Self.runs) {
            let fleet = try await Fleet(count, on: kind, seed: seed)
            do {
                try await fleet.work(rounds: count == 2 ? 24 : 10)
                let tree = try await fleet.settle()
                let faults = fleet.faults(tree)
                #expect(faults.isEmpty, "\(count) machines, \(kind), seed \(seed)")
                if !faults.isEmpty { try keep(fleet, kind, count, seed) }
                let lost = fleet.casualties(tree)
                print("\(count) machines, \(kind), seed \(seed): \(tree.count) items, lost as declared: \(lost.count)")
            } catch {
                Issue.record("\(count) machines, \(kind), seed \(seed): \(error)")
                try keep(fleet, kind, count, seed)
            }
            try await fleet.end()
        }
    }

    private func keep(_ fleet: Fleet, _ kind: SharedPlace.Kind, _ count: Int, _ seed: UInt64) throws {
        guard let place = ProcessInfo.processInfo.environment["REPLICA_TEST_KEEP"] else { return }
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let file = "\(place)/\(count)-\(kind)-\(seed)"
        try fleet.story.write(toFile: file, atomically: true, encoding: .utf8)
        print("kept in \(file)")
    }
}
