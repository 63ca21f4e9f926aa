internal import CLinux

/// Work on a separate thread that is waited for with a limit.
package final class TimedThread: Sendable {
    /// The interval at which the waiter checks the thread.
    private static let pauseSeconds = 0.25

    private enum Outcome {
        case running
        case finished(Bool)
        case givenUp
    }

    private struct State {
        var outcome = Outcome.running
        /// Nil until it runs.
        var thread: Int32?

        var isRunning: Bool {
            if case .running = outcome { true } else { false }
        }
    }

    private let state = Gate(State())

    package init() {}

    /// Starts the thread. False if none could be created.
    package func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        Thread.run { [state] in
            state.withLock { $0.thread = gettid() }
            body()
        }
    }

    /// Reports that the work is done. False if the caller has stopped waiting.
    package func finish(_ result: Bool) -> Bool {
        state.withLock { state in
            if case .givenUp = state.outcome { return false }
            state.outcome = .finished(result)
            return true
        }
    }

    /// Waits for the result; false if ``WaitLimit`` is exceeded.
    /// - Parameter givingUp: Called before the work can notice that it was abandoned.
    package func wait(givingUp: () -> Void) -> Bool {
        var limit = WaitLimit()
        let start = ContinuousClock.now
        while true {
            let result: Bool? = state.wait(
                seconds: Self.pauseSeconds, until: { !$0.isRunning },
                { state, _ in
                    if case .finished(let result) = state.outcome { return result }
                    let elapsed = (ContinuousClock.now - start) / .seconds(1)
                    guard limit.isOver(after: elapsed, state.thread.flatMap(ThreadSleep.init)) else { return nil }
                    givingUp()
                    state.outcome = .givenUp
                    return false
                })
            if let result { return result }
        }
    }
}
