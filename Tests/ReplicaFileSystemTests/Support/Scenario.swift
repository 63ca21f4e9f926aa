import Glibc

/// A run of system calls that must end alike on the mount and on a plain folder.
struct Scenario: Sendable, CustomStringConvertible {
    let name: String
    let run: @Sendable (Probe) -> Void

    init(_ name: String, _ run: @escaping @Sendable (Probe) -> Void) {
        self.name = name
        self.run = run
    }

    var description: String { name }

    /// Runs all of `scenarios`, each in a new folder, on the mount and beside it, and compares call by call.
    static func compare(_ scenarios: [Scenario], _ mounted: MountedReplica, _ checks: Checks) {
        umask(0o022)
        for (index, scenario) in scenarios.enumerated() {
            let logs = [mounted.mount, mounted.plain].map { root in
                let folder = root + "/s\(index)"
                checks.call(mkdir(folder, 0o777))
                checks.call(chmod(folder, 0o777))
                let probe = Probe(folder)
                scenario.run(probe)
                return probe.log
            }
            compare(logs[0], logs[1], scenario.name, checks)
        }
    }

    private static func compare(_ ours: [String], _ native: [String], _ name: String, _ checks: Checks) {
        checks.equal(ours.count, native.count, "\(name): number of results")
        for (our, other) in zip(ours, native) where our != other {
            checks.fail("\(name): \(our) | native: \(other)")
        }
    }
}
