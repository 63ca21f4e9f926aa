import Foundation
import Glibc

/// The result of a script.
struct ScriptOutcome: Sendable {
    /// The exit status, or minus the signal.
    let code: Int32
    /// Processes that it left running, except daemons.
    let left: [RunningProcess]
}

/// Runs a script in bash and returns its result. Waits for that process only: Foundation's Process would also wait for
/// daemons that the script leaves behind.
/// - Parameter output: A file for standard output and errors.
func runScript(_ script: String, environment: [String: String], output: String) async throws -> ScriptOutcome {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread {
            continuation.resume(
                with: Result {
                    // timeout(1) creates a process group with its own process ID. The limit only ends what hangs: it is
                    // above all that scripts wait for.
                    let child = try spawn(
                        ["/usr/bin/timeout", "--kill-after=5", "2400", "/bin/bash", "-c", script],
                        environment: environment.map { "\($0)=\($1)" }, output: output)
                    var status: Int32 = 0
                    while waitpid(child, &status, 0) < 0 {
                        guard errno == EINTR else { throw POSIXError(.ECHILD) }
                    }
                    return ScriptOutcome(
                        code: status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F),
                        left: RunningProcess.inGroup(child))
                })
        }
    }
}

private func spawn(_ arguments: [String], environment: [String], output: String) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o644)
    posix_spawn_file_actions_adddup2(&actions, 1, 2)
    // Dispatch's threads block signals, and a process that inherits the mask can't be killed by `kill`.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    var words = arguments.map { strdup($0) } + [nil]
    var variables = environment.map { strdup($0) } + [nil]
    defer { for text in words + variables { free(text) } }
    var child = pid_t()
    let error = posix_spawn(&child, arguments[0], &actions, &attributes, &words, &variables)
    guard error == 0 else { throw POSIXError(POSIXErrorCode(rawValue: error) ?? .EIO) }
    return child
}
