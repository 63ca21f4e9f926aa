import Foundation
import Testing

/// Random worlds from seeds: each run of a seed is the same.
@Suite struct SimulationTests {
    /// `SIMULATION_SEEDS` and `SIMULATION_FIRST` say how many, and from which on: by default 1,600, 400 of those
    /// where the store deletes much, and 180 over paths, from the first on.
    @Test func noRunLosesData() async { await Self.expectNoFault(1600, as: nil) }

    /// The same with a store that deletes most of the domain now and then. A fifth of the worlds that the other has.
    @Test func noRunLosesDataToDeletions() async { await Self.expectNoFault(400, as: .guarded) }

    /// Over a storage of paths whose conditions are atomic, checked or none, by turns: what is lost is what another client writes
    /// between a look and the act, and only where they are not atomic.
    @Test func noRunOverPathsLosesMoreThanAllowed() async { await Self.expectNoFault(180, as: nil, ofPaths: true) }

    private static func expectNoFault(_ count: UInt64, as profile: Profile?, ofPaths: Bool = false) async {
        let first = number("SIMULATION_FIRST") ?? 1
        let failed = await failures(
            of: Array(first..<first + (number("SIMULATION_SEEDS") ?? count)), as: profile, ofPaths: ofPaths)
        for outcome in failed.prefix(3) {
            let shrunk = await Simulation.shrink(outcome)
            Issue.record("\(shrunk.report)")
        }
        let kinds = Dictionary(grouping: failed, by: Simulation.kind).mapValues { $0.map(\.seed).prefix(40) }
        let count = failed.count
        #expect(count == 0, "\(kinds)")
    }

    private static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
    }

    /// Runs the seeds on two threads.
    private static func failures(
        of seeds: [UInt64], as profile: Profile?, ofPaths: Bool
    ) async -> [Simulation.Outcome] {
        await withTaskGroup(of: [Simulation.Outcome].self) { group in
            for lane in 0..<UInt64(2) {
                group.addTask {
                    var failed: [Simulation.Outcome] = []
                    for seed in seeds where seed % 2 == lane {
                        let outcome = await Simulation.run(seed: seed, as: profile, ofPaths: ofPaths)
                        if outcome.failure != nil { failed.append(outcome) }
                    }
                    return failed
                }
            }
            var all: [Simulation.Outcome] = []
            for await failed in group { all += failed }
            return all.sorted { $0.seed < $1.seed }
        }
    }
}
