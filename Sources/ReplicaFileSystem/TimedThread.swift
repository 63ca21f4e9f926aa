internal import CLinux
internal import Threads

/// Work on a separate thread that is waited for with a limit.
final class TimedThread: Sendable {
    /// The interval at which the waiter checks the thread, in seconds.
    private static let pause = 0.25

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

    /// Starts the thread. False if none could be created.
    func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        Thread.run { [state] in
            state.withLock { $0.thread = gettid() }
            body()
        }
    }

    /// Reports that the work is done. False if the caller has stopped waiting.
    func finish(_ result: Bool) -> Bool {
        state.withLock { state in
            if case .givenUp = state.outcome { return false }
            state.outcome = .finished(result)
            return true
        }
    }

    /// Waits for the result; false if ``WaitLimit`` is exceeded.
    /// - Parameter givingUp: Called before the work can notice that it was abandoned.
    func wait(givingUp: () -> Void) -> Bool {
        var limit = WaitLimit()
        let start = ContinuousClock.now
        while true {
            let result: Bool? = state.wait(
                seconds: Self.pause, until: { !$0.isRunning },
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
