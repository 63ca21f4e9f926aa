internal import Threads

/// Runs blocking work on a separate thread instead of one of the few that tasks share.
package enum BlockingWork {
    /// Runs `body` on a new thread; the task ends when it does.
    static func run(_ body: @escaping @Sendable () -> Void) -> Task<Void, Never> {
        Task {
            await withCheckedContinuation { continuation in
                let work: @Sendable () -> Void = {
                    body()
                    continuation.resume()
                }
                // No thread could be created: better to block this one than not to run at all.
                if !start(work) { work() }
            }
        }
    }

    /// Runs `body` on a new thread.
    /// - Returns: False if no thread could be created; `body` is not run then.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool { Thread.run(body) }
}
