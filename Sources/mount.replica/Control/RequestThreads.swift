import Threads

/// Runs requests on threads of their own, up to a limit. Swift's pool has one for each core: while all of them are busy, a daemon would seem
/// to hang.
final class RequestThreads: TaskExecutor {
    static let most = 64

    private struct State {
        var jobs: [UnownedJob] = []
        var threads = 0
    }

    private let state = Locked(State())

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let needsThread = state.withLock { state in
            state.jobs.append(job)
            guard state.threads < Self.most else { return false }
            state.threads += 1
            return true
        }
        if needsThread, !Thread.run({ [self] in work() }) { giveUpThread() }
    }

    private func work() {
        while let job = next() { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    private func next() -> UnownedJob? {
        state.withLock { state in
            guard state.jobs.isEmpty else { return state.jobs.removeFirst() }
            state.threads -= 1
            return nil
        }
    }

    /// No thread can be created: one that runs takes over what is to be done; without any, Swift's pool does.
    private func giveUpThread() {
        let left = state.withLock { state in
            state.threads -= 1
            guard state.threads == 0 else { return [UnownedJob]() }
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in left { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }
}
