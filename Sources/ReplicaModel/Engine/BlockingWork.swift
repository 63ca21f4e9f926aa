internal import Glibc

/// Work that blocks gets a thread of its own, not one of the few that tasks share.
package enum BlockingWork {
    private final class Job: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new thread; the task ends when it does.
    static func run(_ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        Task {
            await withCheckedContinuation { continuation in
                let work: @Sendable () -> Void = {
                    body()
                    continuation.resume()
                }
                // No thread to be had: better late than never.
                if !start(work) { work() }
            }
        }
    }

    /// Runs `body` on a new thread.
    /// - Returns: False when there is no thread to be had; `body` is not run then.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t()
        let job = Unmanaged.passRetained(Job(body))
        let failed = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Job>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, job.toOpaque())
        guard failed == 0 else {
            job.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
