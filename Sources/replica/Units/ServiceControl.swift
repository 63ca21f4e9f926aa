import Glibc
import ReplicaControl

/// systemctl(1), for one systemd.
struct ServiceControl {
    let scope: UnitScope
    let environment: [String: String]

    /// Timeouts in seconds: for systemd's own work, and for the start of a domain, which may first scan all its files.
    private static let (seconds, longest) = (30.0, 3600.0)

    /// Reloads systemd's units.
    /// - Returns: Whether systemd answered: a user's runs only while the user is logged in.
    func reload() -> Bool { run(["daemon-reload"], Self.seconds)?.status == 0 }

    /// Starts a unit and waits until it is ready.
    /// - Returns: Nil, or systemd's message in one line.
    func start(_ unit: String) -> String? {
        guard let result = run(["start", "--", unit], Self.longest) else { return "systemctl does not answer" }
        guard result.status != 0 else { return nil }
        return result.output.split(separator: "\n").first.map(String.init)
            ?? "systemctl exited with status \(result.status)"
    }

    /// Whether systemd has given a unit up. Not if it does not answer.
    func hasFailed(_ unit: String) -> Bool {
        run(["is-failed", "--quiet", "--", unit], DaemonProbe.helloSeconds)?.status == 0
    }

    /// Whether a unit runs.
    func isActive(_ unit: String) -> Bool {
        run(["is-active", "--quiet", "--", unit], Self.seconds)?.status == 0
    }

    private func run(_ words: [String], _ seconds: Double) -> TimeLimitedProgram.Result? {
        var variables: [String: String] = [:]
        if scope == .user {
            variables["XDG_RUNTIME_DIR"] = environment["XDG_RUNTIME_DIR"] ?? "/run/user/\(geteuid())"
        }
        let words = ([scope.word, "--no-ask-password"] + words).map { Array($0.utf8) }
        return TimeLimitedProgram.run("/usr/bin/systemctl", words, seconds: seconds, environment: variables)
    }
}
