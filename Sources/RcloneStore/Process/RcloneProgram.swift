import ChildProcess
import Glibc
package import HTTPStorage
import SystemPackage

/// The user's rclone: its path, and how it is run.
package struct RcloneProgram: Sendable {
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
            throw .refused("rclone is not installed or not in PATH; \(versionAdvice)")
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

    func call(_ words: [String]) -> ProgramCall {
        let all = [path] + words
        guard let leash else { return ProgramCall(path: path, words: all, environment: environment) }
        return ProgramCall(
            path: leash, words: [leash, "--pdeathsig", "KILL", "--"] + all, environment: environment)
    }

    /// Starts its server.
    /// - Parameter socket: The path at which it listens; access to the folder means full access to the user's remotes.
    func serve(at socket: String) -> RcloneProcess { serve(atAddress: "unix://\(socket)") }

    /// - Parameter address: In rclone's form.
    func serve(atAddress address: String) -> RcloneProcess {
        RcloneProcess(
            call([
                "rcd", "--rc-addr", address, "--rc-no-auth", "--rc-serve", "--ask-password=false",
                "--log-level", "CRITICAL", "--contimeout", "15s", "--timeout", "60s", "--low-level-retries", "3",
                "--rc-job-expire-duration", "10s", "--rc-job-expire-interval", "5s",
            ]))
    }
}
