import Glibc
import Threads

@testable import FuseMount

/// Runs the jobs of a task on separate threads, so that a test may block on a mount of its own process.
private final class OwnThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        Thread { job.runSynchronously(on: executor) }!.detach()
    }
}

/// Runs a test's body where it may block: never on Swift's own pool, which has one thread per core.
func onOwnThread(_ body: @Sendable () async throws -> Void) async throws {
    try await withTaskExecutorPreference(OwnThreadExecutor()) { try await body() }
}

/// A thread whose result is waited for.
final class Running<Value: Sendable>: Sendable {
    private let result = Gate<Value?>(nil)
    /// The kernel's number of the thread, once it runs.
    let handle = Gate<pthread_t?>(nil)

    init(_ body: @escaping @Sendable () -> Value) {
        Thread { [self] in
            handle.withLock { $0 = pthread_self() }
            let value = body()
            result.withLock { $0 = value }
        }!.detach()
    }

    func wait() -> Value {
        result.wait(until: { $0 != nil }, { $0! })
    }

    func waitForHandle() -> pthread_t {
        handle.wait(until: { $0 != nil }, { $0! })
    }
}
