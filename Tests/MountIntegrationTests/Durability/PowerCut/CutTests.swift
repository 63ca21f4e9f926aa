import Foundation
import ReplicaTestSupport
import Synchronization
import Testing

/// Power cuts at seeded moments while programs work, each judged by a pure function.
///
/// `scripts/crash-test --power [N [SEED]]` makes more of them.
@Suite struct CutTests {
    private static var rounds: Int { number("REPLICA_CUT_ROUNDS") ?? 30 }
    private static var seed: UInt64 { UInt64(number("REPLICA_CUT_SEED") ?? 1) }

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test(arguments: CutGround.Layout.allCases)
    func dataConfirmedBeforeAPowerCutSurvives(_ layout: CutGround.Layout) async throws {
        let layouts = CutGround.Layout.allCases
        let index = layouts.firstIndex(of: layout)!
        let count = Self.rounds / layouts.count + (index < Self.rounds % layouts.count ? 1 : 0)
        guard count > 0 else { return }
        try await Trial.run { trial in
            var cuts = Cuts(CutGround(trial: trial, layout: layout), seed: Self.seed &* 10 &+ UInt64(index))
            try await cuts.run(count)
        }
    }
}

/// The cuts of one trial, one after the other: each begins with the result of the one before.
struct Cuts {
    private let ground: CutGround
    private let seed: UInt64
    private var random: SeededGenerator
    private var writers: [CutProgram] = []
    /// The programs of earlier rounds, whose files stay unchanged. A domain that lost most of its items would ask for
    /// approval.
    private var finished: [CutProgram] = []
    private var round = 0
    /// Rounds in which an unsynced byte was lost. In the others another process's sync(2) wrote everything to the disk.
    private var proven = 0

    init(_ ground: CutGround, seed: UInt64) {
        self.ground = ground
        self.seed = seed
        random = SeededGenerator(seed)
    }

    mutating func run(_ count: Int) async throws {
        try await ground.begin()
        writers = ground.domains.indices.map { index in
            CutProgram(
                ground.domains[index].mount, index, folder: "w\(ground.domains[index].name)",
                seed: seed &* 100 &+ UInt64(index))
        }
        for writer in writers { try writer.makeFolder(writer.folder) }
        for _ in 1...count { try await runRound() }
        print("power cuts, \(ground.layout): \(proven) of \(count) lost what was not synced")
        // Of few cuts another test's sync(2) may spoil most.
        let isProof = count < 10 ? proven > 0 : proven * 2 > count
        #expect(isProof, "the other \(count - proven) of \(count) cuts prove nothing")
    }

    private mutating func runRound() async throws {
        round += 1
        let workloads = (0..<random.pick([1, 1, 3, 12])).map { _ in random.pick(CutWorkload.all) }
        let programs = workloads.indices.map { index in
            let domain = random.below(ground.domains.count)
            return CutProgram(
                ground.domains[domain].mount, domain, folder: "r\(round)a\(index)",
                seed: seed &* 1000 &+ UInt64(round * 20 + index))
        }
        let what = "seed \(seed), \(ground.layout), round \(round): \(workloads)"
        for program in programs {
            do { try CutWorkload.setUp(program) } catch {
                Issue.record("\(what): \(program.failures)")
                throw error
            }
        }
        try await ground.wait()
        for program in programs + writers { program.wait() }

        let (areWriting, isWaited) = (random.below(2) == 0, random.below(4) == 0)
        let rest = random.below(random.pick([20, 300, 1500]))
        let load = Load(areWriting ? writers.map { writer in { writer.work(isStopped: $0) } } : [])
        for (workload, program) in zip(workloads, programs) { try run(workload, program) }
        if isWaited {
            await load.end()
            try await ground.wait()
            for program in programs + writers where program.failures.isEmpty { program.wait() }
        }
        if try await ground.cut(after: "sleep \(Double(rest) / 1000)\n" + random.pick(Self.weather)) { proven += 1 }
        // A surviving domain was written until now.
        if !isWaited { await load.end() }
        let unrest = try await ground.rest()
        finished += programs
        try judge(finished + writers, unrest, "\(what), \(isWaited ? "waited" : "\(rest) ms")")
    }

    private func run(_ workload: CutWorkload, _ program: CutProgram) throws {
        do {
            try workload.run(program)
            if workload.sync == .disks { try program.syncDisk(ground.trial.folder + "/data") }
        } catch let error as CutProgram.Ended {
            Issue.record("\(workload): \(program.failures)")
            throw error
        }
    }

    /// What was on the disks at the power cut, in addition to synced data.
    private static let weather = [
        "", "", "for disk in $DISKS; do force_journal $disk; done", "sync data/replica/*/replica.db-wal",
        "sync -f data", "force_journal data; sync data/replica/*/replica.db-wal", "sync -f $STORE",
        "sync_half", "sleep 6",
    ]

    private func judge(_ programs: [CutProgram], _ unrest: [String], _ what: String) throws {
        let outcome = try ground.outcome(unrest)
        let failures =
            programs.flatMap(\.failures)
            + CutJudge.failures(programs.map { ($0.told, $0.attempted) }, outcome)
        for failure in failures { Issue.record("\(what): \(failure)") }
        if !failures.isEmpty { throw ScriptFailed() }
        for program in programs { program.learn(outcome.mounts[program.domain]) }
    }
}

extension CutProgram {
    /// Works until it is stopped or the daemon is gone.
    func work(isStopped: borrowing Atomic<Bool>) {
        while !isStopped.load(ordering: .relaxed), failures.isEmpty {
            do { try step() } catch { return }
        }
    }
}
