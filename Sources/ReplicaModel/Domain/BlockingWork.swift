internal import Glibc

/// Work that blocks gets a thread of its own, not one of the few that tasks share.
enum BlockingWork {
    private final class Job: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new thread; the task ends when it does.
    static func run(_ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        Task {
            await withCheckedContinuation { continuation in
                start {
                    body()
                    continuation.resume()
                }
            }
        }
    }

    private static func start(_ body: @escaping @Sendable () -> Void) {
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
            // No thread to be had: better late than never.
            job.takeRetainedValue().body()
            return
        }
        pthread_detach(thread)
    }
}
