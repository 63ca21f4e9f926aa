import ChildProcess
import Glibc
import ReplicaControl
import Threads

/// The frame of `probe` and `test-store`: work on a store that prints lines and decides the exit status.
enum StoreTask {
    /// Runs `body` in a task and ends the process: with 0 if it returns true, with the code of its error if it fails.
    static func main(_ body: @escaping @Sendable () async throws -> Bool) -> Never {
        let (code, isDone) = (Locked(ExitReason.failed), Latch())
        Task {
            do {
                let isKept = try await body()
                code.withLock { $0 = isKept ? .success : .failed }
            } catch {
                let failure = ControlFailure(error)
                StandardError.say(failure.message)
                code.withLock { $0 = failure.code }
            }
            isDone.open()
        }
        isDone.wait()
        let status = code.withLock { $0 }
        exit((status == .success && !StandardOutput.isWhole ? .failed : status).rawValue)
    }

    /// Writes a line to standard output, always one: it may contain texts of a store.
    static func say(_ line: String) { StandardOutput.write(Array("\(SanitizedText.of(Array(line.utf8)))\n".utf8)) }
}
