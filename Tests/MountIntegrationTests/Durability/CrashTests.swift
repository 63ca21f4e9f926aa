import Foundation
import ReplicaTestSupport
import Testing

/// kill -9 of the daemon at seeded moments while programs write and the store changes.
///
/// `scripts/crash-test N [SEED]` runs it with more kills.
@Suite struct CrashTests {
    private static var kills: Int { number("REPLICA_CRASH_KILLS") ?? 16 }
    private static var seed: UInt64 { UInt64(number("REPLICA_CRASH_SEED") ?? 1) }

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test func nothingAcknowledgedIsLost() async throws {
        try await Trial.run { trial in
            try await trial.shell("begin; mkdir $MNT/{a,b,c}; mkdir $STORE/remote; settle")
            let writers = ["a", "b", "c"].enumerated().map { index, name in
                Writer(name: name, folder: "\(trial.mount)/\(name)", seed: Self.seed &* 100 &+ UInt64(index))
            }
            var random = SeededGenerator(Self.seed)
            for kill in 1...Self.kills {
                let delay = random.below(4) == 0 ? 500 + random.below(2000) : 5 + random.below(300)
                try await Self.write(writers, killing: trial, after: delay, kill, &random)
                try await trial.shell("mount_it")
                try Self.check(writers, "kill \(kill), seed \(Self.seed)")
                // Sometimes again, during its start.
                if random.below(4) == 0 {
                    try await trial.shell("sleep 0.0\(random.below(10)); kill_daemon; mount_it")
                    try Self.check(writers, "second kill \(kill), seed \(Self.seed)")
                }
                if Self.kills > 20, kill % 10 == 0 { print("\(kill) kills, \(writers.map(\.calls)) calls") }
            }
            try await trial.shell("settle; same; equal \"$(ls $MNT/remote | wc -l)\" \(Self.kills)")
            try Self.check(writers, "the end, seed \(Self.seed)")
        }
    }

    /// Lets all writers work until the daemon is killed.
    private static func write(
        _ writers: [Writer], killing trial: Trial, after milliseconds: Int, _ kill: Int, _ random: inout SeededGenerator
    ) async throws {
        let load = Load(writers.map { writer in { writer.work(isStopped: $0) } })
        let result = try await trial.attempt(
            """
            echo \(kill) >"$STORE/remote/new\(kill)"
            [ \(kill) -lt 3 ] || echo again >>"$STORE/remote/new\(1 + random.below(kill))"
            sleep \(Double(milliseconds) / 1000)
            kill_daemon
            """)
        await load.end()
        if result.code != 0 { Issue.record("kill \(kill): \(result.output)") }
    }

    private static func check(_ writers: [Writer], _ when: String) throws {
        for writer in writers {
            writer.check()
            for failure in writer.failures { Issue.record("\(when): \(failure)") }
        }
        if writers.contains(where: { !$0.failures.isEmpty }) { throw ScriptFailed() }
    }
}
