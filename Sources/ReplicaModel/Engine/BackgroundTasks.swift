internal import Threads

/// Work that goes on by itself until it is done, whoever waits for it: listings, comparisons, downloads, windows of large files. A domain that
/// stops ends it first: afterwards nothing can be recorded, and another process may serve the domain.
final class BackgroundTasks: Sendable {
    private struct State {
        var running: [UInt64: any Running] = [:]
        var next: UInt64 = 0
        var isEnding = false
    }

    /// Callers hold the locks of what they share.
    private let state = Locked(State(), rank: .innermost)

    /// Starts work. Once it ends, it is forgotten. Any thread.
    /// - Returns: The task, which cancels itself first if the domain is stopping.
    @discardableResult
    func start<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) -> Task<Result, Never> {
        state.withLock { state in
            let number = state.next
            state.next += 1
            let task = Task {
                if self.state.withLock({ $0.isEnding }) { withUnsafeCurrentTask { $0?.cancel() } }
                let result = await body()
                self.state.withLock { _ = $0.running.removeValue(forKey: number) }
                return result
            }
            state.running[number] = task
            return task
        }
    }

    /// Cancels all work and waits for its end.
    func end() async {
        while let running = state.withLock({ state -> [any Running]? in
            state.isEnding = true
            return state.running.isEmpty ? nil : Array(state.running.values)
        }) {
            for task in running { task.cancel() }
            for task in running { await task.end() }
        }
    }
}

private protocol Running: Sendable {
    func cancel()
    func end() async
}

extension Task: Running where Failure == Never {
    fileprivate func end() async { _ = await value }
}
