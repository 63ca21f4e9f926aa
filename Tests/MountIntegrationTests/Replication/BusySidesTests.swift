import Foundation
import ReplicaTestSupport
import Testing

/// Two programs here and another client in the store rearrange the same tree, a hundred times a second, without
/// removals: in the end everything exists on both sides exactly once.
///
/// `scripts/crash-test --busy N [SEED]` makes more runs.
@Suite struct BusySidesTests {
    private static var runs: Int { number("REPLICA_BUSY_RUNS") ?? 2 }
    private static var seed: UInt64 { UInt64(number("REPLICA_BUSY_SEED") ?? 1) }
    /// The duration of a run, in seconds.
    private static let length = 10

    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test func concurrentCreatesAreSyncedOnce() async throws {
        for seed in Self.seed..<Self.seed + UInt64(Self.runs) {
            try await Trial.run { trial in
                try await trial.shell("begin; settle")
                let programs = [trial.mount, trial.mount, trial.store].enumerated().map { index, root in
                    Rearranger("\(index)", in: root, seed: seed &* 10 &+ UInt64(index))
                }
                let load = Load(programs.map { program in { program.work(isStopped: $0) } })
                try await Task.sleep(for: .seconds(Self.length))
                await load.end()
                // Moves between folders that were never listed are noticed when one of them is.
                try await trial.shell(#"settle; find "$MNT" >/dev/null; settle; settle"#)
                let differences = try await trial.attempt("same || { replica status d; replica pending d; false; }")
                let faults = try Self.faults(programs, trial)
                if differences.code != 0 { Issue.record("seed \(seed): \(differences.output)") }
                if !faults.isEmpty { Issue.record("seed \(seed): \(faults.joined(separator: "; "))") }
                if differences.code != 0 || !faults.isEmpty { throw ScriptFailed() }
                print("seed \(seed): \(programs.map(\.made.count)) files")
            }
        }
    }

    /// Files that are missing or duplicated.
    private static func faults(_ programs: [Rearranger], _ trial: Trial) throws -> [String] {
        var places: [String: [String]] = [:]
        for (path, entry) in try FileTree(readingFolder: trial.store).entries {
            if case .file(let content) = entry {
                places[String(decoding: content, as: UTF8.self), default: []].append(path)
            }
        }
        return programs.flatMap(\.made).compactMap { content in
            let found = places[content, default: []].sorted()
            if found.count == 1 { return nil }
            return found.isEmpty ? "\(content) is nowhere" : "\(content) is \(found.joined(separator: " and "))"
        }
    }
}
