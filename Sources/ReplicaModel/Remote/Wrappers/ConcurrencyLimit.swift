import Threads

/// Limits the number of concurrent calls; further tasks wait in order. A limit below 1 counts as 1.
package final class ConcurrencyLimit: Sendable {
    private struct State {
        var free: Int
        var tickets = 0
        var waiting: [(ticket: Int, task: CheckedContinuation<Bool, Never>)] = []
        /// Tasks that were cancelled before they waited.
        var cancelled: Set<Int> = []
    }

    private let state: Locked<State>

    package init(_ limit: Int) {
        state = Locked(State(free: max(1, limit)))
    }

    /// Waits for a place. A caller that got one must call ``leave()``.
    /// - Throws: ``RemoteStoreError/cancelled`` if the task is cancelled first.
    package func enter() async throws(RemoteStoreError) {
        let ticket = state.withLock {
            $0.tickets += 1
            return $0.tickets
        }
        let hasPlace = await withTaskCancellationHandler {
            await withCheckedContinuation { wait($0, ticket) }
        } onCancel: {
            cancel(ticket)
        }
        state.withLock { _ = $0.cancelled.remove(ticket) }
        if !hasPlace { throw .cancelled }
    }

    /// Hands the place to the next waiting task.
    package func leave() {
        let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().task
        }
        next?.resume(returning: true)
    }

    private func wait(_ task: CheckedContinuation<Bool, Never>, _ ticket: Int) {
        let answer = state.withLock { state -> Bool? in
            if state.cancelled.contains(ticket) { return false }
            if state.free > 0 {
                state.free -= 1
                return true
            }
            state.waiting.append((ticket, task))
            return nil
        }
        if let answer { task.resume(returning: answer) }
    }

    private func cancel(_ ticket: Int) {
        let waiting = state.withLock { state -> CheckedContinuation<Bool, Never>? in
            guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else {
                state.cancelled.insert(ticket)
                return nil
            }
            return state.waiting.remove(at: index).task
        }
        waiting?.resume(returning: false)
    }
}
