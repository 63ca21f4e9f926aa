import ChildProcess
import Glibc
package import HTTPStorage
import SystemPackage

/// The user's rclone: its path, and how it is run.
package struct RcloneProgram: Sendable {
    /// The oldest supported version: earlier ones have vulnerabilities and no sockets (docs/decisions/rclone-store.md).
    static let oldest = (1, 75)
    private static let advice = "version 1.75 or newer is needed: https://rclone.org/downloads"

    let path: String
    /// Its environment, as `NAME=VALUE`.
    let environment: [String]
    /// A program that ends rclone together with this process; nil if there is none.
    private let leash: String?

    /// Finds it.
    /// - Parameter environment: rclone's environment.
    /// - Throws: One line if there is none.
    package static func find(_ environment: [String: String]) throws(ServerFailure) -> RcloneProgram {
        guard let path = file("rclone", environment["PATH"]) else {
            throw .refused("rclone is not installed or not in PATH; \(advice)")
        }
        return RcloneProgram(path: path, environment: environment)
    }

    /// - Parameter path: The path of the program.
    package init(path: String, environment: [String: String]) {
        self.path = path
        // Settings that the user has for other servers must not apply to ours.
        self.environment = environment.filter { !$0.key.hasPrefix("RCLONE_RC") && $0.key != "RCLONE_CONFIG_PASS" }
            .map { "\($0.key)=\($0.value)" }
        leash = Self.file("setpriv", environment["PATH"] ?? SystemFolders.path)
    }

    private static func file(_ name: String, _ path: String?) -> String? {
        (path ?? SystemFolders.path).split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
            .first { access($0, X_OK) == 0 }
    }

    private func call(_ words: [String]) -> ProgramCall {
        let all = [path] + words
        guard let leash else { return ProgramCall(path: path, words: all, environment: environment) }
        return ProgramCall(
            path: leash, words: [leash, "--pdeathsig", "KILL", "--"] + all, environment: environment)
    }

    /// Starts its server.
    /// - Parameter socket: The path at which it listens; access to the folder means full access to the user's remotes.
    func serve(at socket: String) -> RcloneRun { serve(atAddress: "unix://\(socket)") }

    /// - Parameter address: In rclone's form.
    func serve(atAddress address: String) -> RcloneRun {
        RcloneRun(
            call([
                "rcd", "--rc-addr", address, "--rc-no-auth", "--rc-serve", "--ask-password=false",
                "--log-level", "CRITICAL", "--contimeout", "15s", "--timeout", "60s", "--low-level-retries", "3",
                "--rc-job-expire-duration", "10s", "--rc-job-expire-interval", "5s",
            ]))
    }

    /// Why its server ended before it was ready: an old rclone is recognized by its version.
    func complaint(_ end: RcloneRun.End) async -> ServerFailure {
        let run = RcloneRun(call(["version"]))
        for _ in 0..<200 where run.end == nil {
            // A cancelled task stops waiting.
            do { try await Task.sleep(for: .milliseconds(20)) } catch { break }
        }
        run.stop(SIGKILL)
        if let text = run.end?.output.split(separator: " ").dropFirst().first, text.hasPrefix("v"),
            let refusal = Self.refusal(of: String(text))
        {
            return refusal
        }
        return .unreachable("rclone can't be started: \(end.lastLine)")
    }

    /// - Parameter version: In rclone's form: `v1.75.2`.
    /// - Returns: Nil if it is new enough.
    static func refusal(of version: String) -> ServerFailure? {
        let numbers = version.drop { $0 == "v" }.split { !$0.isNumber }.prefix(2).map { Int($0) ?? 0 }
        guard numbers.count == 2, (numbers[0], numbers[1]) < oldest else { return nil }
        return .refused("rclone is too old: it is \(PlainText.of(version, longest: 40)), and \(advice)")
    }
}
