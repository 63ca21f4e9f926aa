import Glibc
import Threads

/// Runs requests on threads of their own. Swift's pool has one for each core: while all of them are busy, a daemon would seem to hang.
final class RequestThreads: TaskExecutor {
    private static let pauseMicroseconds: UInt32 = 10_000

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        // Without a free thread, the caller waits. It can't run the job itself: it may hold a lock that the job takes.
        while !Thread.run({ job.runSynchronously(on: executor) }) { usleep(Self.pauseMicroseconds) }
    }
}
