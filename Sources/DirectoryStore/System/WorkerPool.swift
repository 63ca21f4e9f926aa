import Glibc
import ReplicaModel
import Threads

/// Threads for calls that block in the kernel, so that they don't block Swift's own threads.
final class WorkerPool: TaskExecutor {
    private let queue = JobQueue()

    /// Starts `count` threads. They exit when the pool is released and its last job has ended.
    init(count: Int) {
        for _ in 0..<count { queue.startThread() }
    }

    deinit {
        queue.close()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.add { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Runs `body` on one of the threads, or directly if the caller is already on one. `body` can check the flag for
    /// whether the caller is still waiting.
    /// - Throws: The errors of `body`; ``RemoteStoreError/cancelled`` if the task is cancelled before it begins.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable (CancellationFlag) throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        let flag = CancellationFlag()
        let outcome = await withTaskCancellationHandler {
            await withTaskExecutorPreference(self) { Self.outcome(flag, body) }
        } onCancel: {
            flag.cancel()
        }
        return try outcome.get()
    }

    private static func outcome<Success>(
        _ flag: CancellationFlag, _ body: (CancellationFlag) throws(RemoteStoreError) -> Success
    ) -> Result<Success, RemoteStoreError> {
        do throws(RemoteStoreError) {
            try flag.check()
            return .success(try body(flag))
        } catch {
            return .failure(error)
        }
    }
}

/// Tells whether the caller of a blocking call is still waiting.
final class CancellationFlag: Sendable {
    private let isCancelled = Locked(false)

    func cancel() { isCancelled.withLock { $0 = true } }

    /// - Throws: ``RemoteStoreError/cancelled`` if the caller is no longer waiting.
    func check() throws(RemoteStoreError) {
        if isCancelled.withLock({ $0 }) { throw .cancelled }
    }
}
