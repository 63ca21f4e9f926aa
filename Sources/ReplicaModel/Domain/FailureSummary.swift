import Threads

/// A summary of the items that could not be sent.
struct FailureSummary {
    var count = 0
    /// When the first of them is retried, in seconds since 1970.
    var retryAt: Double?
    var message = ""

    /// One line for the user.
    var reason: String? {
        switch count {
        case 0: nil
        case 1: "not uploaded: \(message)"
        default: "\(count) items not uploaded, one of them: \(message)"
        }
    }
}

extension Replica {
    func failures() -> FailureSummary {
        withTree { tree in
            tree.pending.values.reduce(into: FailureSummary()) { all, node in
                guard let failure = node.failure else { return }
                if all.count == 0 { all.message = failure.message }
                all.count += 1
                all.retryAt = [all.retryAt, failure.retryAt].compactMap(\.self).min()
            }
        }
    }
}

extension SyncEngine {
    /// When failed items are retried.
    func nextTry(of failures: FailureSummary) -> Timestamp? {
        let pause = pause.left
        if pause > 0 { return replica.clock.wallTime(of: replica.now() + pause) }
        let time: Double? = state.withLock { state in
            guard state.disconnected == nil else { return nil }
            let own = state.storeFailure?.retryAt ?? failures.retryAt
            guard state.storeFailure != nil || failures.count > 0 else { return state.feedTrouble?.retryAt }
            return [own, state.earlyRetry.next(isAwaited: state.waiters > 0)].compactMap(\.self).min()
        }
        return time.map { replica.clock.wallTime(of: max($0, replica.now())) }
    }
}
