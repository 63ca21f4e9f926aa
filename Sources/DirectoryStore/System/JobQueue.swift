import Threads

/// A FIFO queue of jobs for a set of threads.
final class JobQueue: Sendable {
    private struct Queue {
        var jobs: [@Sendable () -> Void] = []
        /// The index of the next job; avoids moving the others at each step.
        var first = 0
        var isClosed = false

        var isEmpty: Bool { first == jobs.count }

        mutating func take() -> (@Sendable () -> Void)? {
            guard !isEmpty else { return nil }
            let job = jobs[first]
            first += 1
            if isEmpty {
                jobs.removeAll(keepingCapacity: true)
                first = 0
            }
            return job
        }
    }

    private let queue = Gate(Queue())

    func add(_ job: @escaping @Sendable () -> Void) {
        queue.withLockWakingOne { $0.jobs.append(job) }
    }

    /// Lets the threads exit once the queue is empty.
    func close() {
        queue.withLock { $0.isClosed = true }
    }

    /// Starts a thread. Traps if that fails: a system that can't start another thread cannot run the program.
    func startThread() {
        let isStarted = Thread.run { [queue] in
            while let job = queue.wait(until: { !$0.isEmpty || $0.isClosed }, { $0.take() }) { job() }
        }
        precondition(isStarted, "the thread can't be created")
    }
}
