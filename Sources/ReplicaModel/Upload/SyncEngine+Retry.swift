import Threads

extension SyncEngine {
    /// Retries failed items that may succeed now.
    /// - Returns: The time of the next retry, in seconds since 1970; nil if only an item's own retry time or a change
    ///   can help.
    func retrySome() -> Double? {
        let now = replica.now()
        let next = state.withLock { state in
            state.disconnected == nil ? state.earlyRetry.next(isAwaited: state.waiters > 0) : nil
        }
        guard let next, next <= now else { return next }
        let pause = pause.left
        guard pause == 0 else { return now + pause }
        let failed = replica.failedItems()
        let (limit, isHurried) = state.withLock { state in
            guard !failed.isEmpty || state.storeFailure != nil || !state.postponed.isEmpty else {
                state.earlyRetry.rest(at: now)
                return (0, false)
            }
            let limit = state.earlyRetry.begin(at: now)
            state.storeFailure?.retryAt = now
            return (limit, state.postponed.makeDue(atMost: limit, at: now))
        }
        if isHurried { wakeSignal.signal() }
        let numbers = Set(itemsToRetry(failed, atMost: limit))
        let cleared = replica.makeDue { numbers.contains($1.number) }
        uploadQueue.withLock { $0.add(cleared) }
        return state.withLock { $0.earlyRetry.next(isAwaited: $0.waiters > 0) }
    }

    /// Runs `body`, which waits for the store; failed items are retried more often meanwhile.
    func awaited<Value>(_ body: () async throws -> Value) async throws -> Value {
        state.withLock { $0.waiters += 1 }
        wakeSignal.signal()
        defer { state.withLock { $0.waiters -= 1 } }
        return try await body()
    }

    /// Runs `body`, which waits for all that the store has.
    /// - Parameter isInsisting: Whether a poll of everything that fails meanwhile is repeated, without a limit.
    func pollingEverything<Value>(isInsisting: Bool, _ body: () async throws -> Value) async throws -> Value {
        if isInsisting { state.withLock { $0.pulls.pollers += 1 } }
        store.pollEverything()
        defer { if isInsisting { state.withLock { $0.pulls.pollers -= 1 } } }
        return try await body()
    }
}

extension Replica {
    /// The items whose last attempt failed and whose next is not in flight.
    fileprivate func failedItems() -> [FailedItem] {
        withTree { tree in
            let now = tree.clock.now()
            return tree.pending.values.compactMap { node in
                guard let failure = node.failure, !node.isInFlight, failure.retryAt.map({ $0 > now }) ?? true else {
                    return nil
                }
                return FailedItem(
                    number: node.number, folder: node.parent?.number ?? node.base?.parent, attempts: failure.attempts)
            }
        }
    }
}
