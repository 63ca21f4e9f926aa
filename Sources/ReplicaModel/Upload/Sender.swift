internal import Threads

/// A task that makes calls one after the other. If the store never answers one, another task takes its place.
final class Sender: Sendable {
    private struct State {
        /// The calls that were begun and not made yet.
        var rest: ArraySlice<OutgoingCall> = []
        var task: Task<Void, Never>?
        var isCancelled = false
        var isAbandoned = false
    }

    let progress = CallTimeouts.Progress()
    private let state = Locked(State())

    /// Whether the task has to end, because a call was not answered in time.
    var isGivenUp: Bool { state.withLock { $0.isCancelled || $0.isAbandoned } }

    /// Whether another task has taken over its work.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    func start(on executor: (any TaskExecutor)?, _ body: @escaping @Sendable () async -> Void) {
        let task = Task(executorPreference: executor) { await body() }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    func begin(_ calls: [OutgoingCall]) { state.withLock { $0.rest = calls[...] } }

    /// - Returns: The call to make next.
    func next() -> OutgoingCall? { state.withLock { $0.isAbandoned ? nil : $0.rest.popFirst() } }

    func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    /// The call that the task waited for was abandoned: it does nothing more, and another task takes over.
    func stop() { state.withLock { $0.isAbandoned = true } }

    /// Takes over from the task.
    /// - Returns: The calls that it has not made.
    func abandon() -> [OutgoingCall] {
        state.withLock { state in
            defer { state.rest = [] }
            state.isAbandoned = true
            return Array(state.rest)
        }
    }
}
