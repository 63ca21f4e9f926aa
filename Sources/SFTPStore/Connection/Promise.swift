import Threads

/// A value that is set once. Any number of tasks may wait for it.
final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var count = 0
        var waiters: [Int: CheckedContinuation<Value?, Never>] = [:]
        /// Tasks that were cancelled before they waited.
        var cancelled: Set<Int> = []
    }

    private let state = Locked(State())

    /// The first value counts.
    /// - Returns: Whether this was the first.
    @discardableResult
    func fulfil(_ value: Value) -> Bool {
        let waiters = state.withLock { state -> [CheckedContinuation<Value?, Never>]? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        guard let waiters else { return false }
        for waiter in waiters { waiter.resume(returning: value) }
        return true
    }

    /// The value, if it is set.
    var present: Value? { state.withLock { $0.value } }

    /// Waits for the value.
    /// - Returns: Nil if the task is cancelled first.
    func value() async -> Value? {
        if let value = present { return value }
        let number = state.withLock { state in
            state.count += 1
            return state.count
        }
        let value = await withTaskCancellationHandler {
            await withCheckedContinuation { wait($0, number) }
        } onCancel: {
            cancel(number)
        }
        state.withLock { _ = $0.cancelled.remove(number) }
        return value
    }

    private func wait(_ waiter: CheckedContinuation<Value?, Never>, _ number: Int) {
        let (isOver, value) = state.withLock { state -> (Bool, Value?) in
            if let value = state.value { return (true, value) }
            if state.cancelled.contains(number) { return (true, nil) }
            state.waiters[number] = waiter
            return (false, nil)
        }
        if isOver { waiter.resume(returning: value) }
    }

    private func cancel(_ number: Int) {
        let waiter = state.withLock { state in
            if state.waiters[number] == nil { state.cancelled.insert(number) }
            return state.waiters.removeValue(forKey: number)
        }
        waiter?.resume(returning: nil)
    }
}
