internal import ReplicaModel
internal import Threads

/// The paths of running calls, so that no path is used by two calls at once and no folder moves during a call; and the
/// paths of recent calls, so that older listings don't count as current.
final class PathLocks: Sendable {
    /// A held path, alone or with everything below it.
    struct Claim: Sendable {
        var path: StoragePath
        var isTree = false

        func conflicts(with other: Claim) -> Bool {
            path == other.path || isTree && other.path.isWithin(path) || other.isTree && path.isWithin(other.path)
        }
    }

    fileprivate struct State {
        var held: [Int: [Claim]] = [:]
        var waiting: [(ticket: Int, claims: [Claim], task: CheckedContinuation<Void, Never>)] = []
        var tickets = 0
        /// The released claims and when they were released, as long as a comparison needs them.
        var past: [(moment: Int, claims: [Claim])] = []
        var comparisons: [Int: Int] = [:]
    }
    private let state = Locked(State())

    /// Runs `body` with exclusive use of all of the paths.
    func hold<Result>(
        _ claims: [Claim], _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        let ticket = await take(claims)
        defer { release(ticket) }
        return try await body()
    }

    private func take(_ claims: [Claim]) async -> Int {
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        await withCheckedContinuation { task in
            let isFree = state.withLock { state -> Bool in
                if state.isFree(claims) {
                    state.held[ticket] = claims
                    return true
                }
                state.waiting.append((ticket, claims, task))
                return false
            }
            if isFree { task.resume() }
        }
        return ticket
    }

    private func release(_ ticket: Int) {
        let next = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            let claims = state.held.removeValue(forKey: ticket) ?? []
            state.tickets += 1
            if !state.comparisons.isEmpty { state.past.append((state.tickets, claims)) }
            return state.admit()
        }
        for task in next { task.resume() }
    }

    // MARK: Recent calls

    /// Begins a comparison: all later activity is remembered until ``endComparison(_:)``.
    func beginComparison() -> Int {
        state.withLock { state in
            state.tickets += 1
            state.comparisons[state.tickets] = state.tickets
            return state.tickets
        }
    }

    func endComparison(_ comparison: Int) {
        state.withLock { state in
            state.comparisons[comparison] = nil
            let oldest = state.comparisons.values.min()
            state.past = oldest.map { oldest in state.past.filter { $0.moment > oldest } } ?? []
        }
    }

    /// Whether a call used a path, or a folder above it, since a comparison began; except the caller's own.
    func isStale(_ path: StoragePath, since comparison: Int, but own: StoragePath? = nil) -> Bool {
        let claim = Claim(path: path)
        return state.withLock { state in
            state.held.values.contains { $0.contains { $0.path != own && $0.conflicts(with: claim) } }
                || state.past.contains { $0.moment > comparison && $0.claims.contains { $0.conflicts(with: claim) } }
        }
    }
}

extension PathLocks.State {
    fileprivate func isFree(_ claims: [PathLocks.Claim]) -> Bool {
        !held.values.contains { $0.contains { other in claims.contains { $0.conflicts(with: other) } } }
    }

    /// Admits the waiting calls whose paths are free, in order.
    fileprivate mutating func admit() -> [CheckedContinuation<Void, Never>] {
        var tasks: [CheckedContinuation<Void, Never>] = []
        var left: [(ticket: Int, claims: [PathLocks.Claim], task: CheckedContinuation<Void, Never>)] = []
        for waiter in waiting {
            // First come, first served, even if the first one needs more paths.
            let isBehind = left.contains { other in
                other.claims.contains { one in waiter.claims.contains { $0.conflicts(with: one) } }
            }
            if !isBehind, isFree(waiter.claims) {
                held[waiter.ticket] = waiter.claims
                tasks.append(waiter.task)
            } else {
                left.append(waiter)
            }
        }
        waiting = left
        return tasks
    }
}
