import Glibc
import ReplicaControl

/// systemctl(1), for one systemd.
struct ServiceControl {
    let scope: UnitScope
    let environment: [String: String]

    /// Seconds for what systemd does by itself, and for a domain's start, which may first look at each of its files.
    private static let (seconds, longest) = (30.0, 3600.0)

    /// Has systemd read its units again.
    /// - Returns: Whether there is a systemd that answers: a person's runs while they are logged in.
    func reload() -> Bool { run(["daemon-reload"], Self.seconds)?.status == 0 }

    /// Starts a unit and waits until it is ready.
    /// - Returns: Nil, or what systemd says in one line.
    func start(_ unit: String) -> String? {
        guard let result = run(["start", "--", unit], Self.longest) else { return "systemctl does not answer" }
        guard result.status != 0 else { return nil }
        return result.output.split(separator: "\n").first.map(String.init) ?? "systemctl ended with \(result.status)"
    }

    private func run(_ words: [String], _ seconds: Double) -> BoundedProgram.Result? {
        var variables: [String: String] = [:]
        if scope == .user {
            variables["XDG_RUNTIME_DIR"] = environment["XDG_RUNTIME_DIR"] ?? "/run/user/\(geteuid())"
        }
        let words = ([scope.word, "--no-ask-password"] + words).map { Array($0.utf8) }
        return BoundedProgram.run("/usr/bin/systemctl", words, seconds: seconds, environment: variables)
    }
}
