internal import Threads

/// Runs blocking work on a thread of its own instead of one of the few that tasks share.
package enum BlockingWork {
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
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool { Thread.run(body) }
}
