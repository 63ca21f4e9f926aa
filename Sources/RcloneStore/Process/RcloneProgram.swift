import ChildProcess
import Glibc
package import HTTPStorage
import SystemPackage

/// The person's own rclone: where it is, and how it is run.
package struct RcloneProgram: Sendable {
    /// The first version that is used: before it there were holes, and no sockets (docs/decisions/rclone-store.md).
    static let oldest = (1, 75)
    private static let advice = "version 1.75 or newer is needed: https://rclone.org/downloads"

    let path: String
    /// `NAME=VALUE` of all that it finds in its environment.
    let environment: [String]
    /// A program that has rclone end with us; nil where there is none.
    private let leash: String?

    /// Looks for it.
    /// - Parameter environment: What rclone finds in its own.
    /// - Throws: One line where there is none.
    package static func find(_ environment: [String: String]) throws(ServerFailure) -> RcloneProgram {
        guard let path = file("rclone", environment["PATH"]) else {
            throw .refused("rclone is not installed, or is in no folder of PATH; \(advice)")
        }
        return RcloneProgram(path: path, environment: environment)
    }

    /// - Parameter path: Its file.
    package init(path: String, environment: [String: String]) {
        self.path = path
        // Its server is ours, whatever the person has for others.
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
    /// - Parameter socket: The path at which it listens; who may look into the folder may do all that the person may.
    func serve(at socket: String) -> RcloneRun { serve(atAddress: "unix://\(socket)") }

    /// - Parameter address: As rclone has it.
    func serve(atAddress address: String) -> RcloneRun {
        RcloneRun(
            call([
                "rcd", "--rc-addr", address, "--rc-no-auth", "--rc-serve", "--ask-password=false",
                "--log-level", "CRITICAL", "--contimeout", "15s", "--timeout", "60s", "--low-level-retries", "3",
                "--rc-job-expire-duration", "10s", "--rc-job-expire-interval", "5s",
            ]))
    }

    /// Why its server ended before it served: an old one is told by its version.
    func complaint(_ end: RcloneRun.End) async -> ServerFailure {
        let run = RcloneRun(call(["version"]))
        for _ in 0..<200 where run.end == nil {
            // Who is cancelled asks no more.
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

    /// - Parameter version: As rclone says it: `v1.75.2`.
    /// - Returns: Nil where it is new enough.
    static func refusal(of version: String) -> ServerFailure? {
        let numbers = version.drop { $0 == "v" }.split { !$0.isNumber }.prefix(2).map { Int($0) ?? 0 }
        guard numbers.count == 2, (numbers[0], numbers[1]) < oldest else { return nil }
        return .refused("rclone is too old: it is \(PlainText.of(version, longest: 40)), and \(advice)")
    }
}
