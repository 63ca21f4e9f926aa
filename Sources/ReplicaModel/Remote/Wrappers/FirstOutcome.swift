internal import Threads

/// The first outcome of several, for one task that waits for it.
final class FirstOutcome<Value: Sendable>: Sendable {
    private struct State {
        var outcome: Result<Value, RemoteStoreError>?
        var waiting: CheckedContinuation<Result<Value, RemoteStoreError>, Never>?
    }

    private let state = Locked(State())

    var value: Result<Value, RemoteStoreError> {
        get async {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Result<Value, RemoteStoreError>? in
                    if state.outcome == nil { state.waiting = continuation }
                    return state.outcome
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        }
    }

    /// Later outcomes are ignored.
    func take(_ outcome: Result<Value, RemoteStoreError>) {
        let waiting = state.withLock { state in
            defer { state.waiting = nil }
            if state.outcome == nil { state.outcome = outcome }
            return state.waiting
        }
        waiting?.resume(returning: outcome)
    }
}
