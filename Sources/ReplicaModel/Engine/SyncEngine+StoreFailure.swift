internal import Threads

/// Failures of the store as a whole: while there is one, nothing is sent.
extension SyncEngine {
    /// Stops all sending for a while.
    /// - Parameter isOfRecognition: Whether the failure comes from the recognition of the store. While the store is not
    ///   recognized, other failures are not recorded.
    func noteStoreFailure(_ error: RemoteStoreError, isOfRecognition: Bool = false) {
        noteFailure(code: error.code, error.message, isOfRecognition: isOfRecognition)
    }

    /// Records a failure of the store, or of this computer.
    func noteFailure(code: String, _ message: String, isOfRecognition: Bool = false) {
        let jitter = random()
        let pause = pause.left
        state.withLock { state in
            // The user is asked about that: calls that were in flight must not clear the question.
            guard isOfRecognition || !state.isOtherStore else { return }
            // Who gave up does not bring back a store that is away.
            if code == RemoteStoreError.cancelled.code, !state.isStoreReadable { return }
            let now = replica.now()
            // Calls that were in flight when one failed belong to the same attempt, and don't make the pause longer.
            let planned = state.storeFailure?.retryAt.flatMap { $0 > now ? $0 : nil }
            let attempts = (state.storeFailure?.attempts ?? 0) + (planned == nil ? 1 : 0)
            let delay = Backoff.delay(attempts: attempts, jitter: jitter, isAwaited: state.waiters > 0)
            // If the store requests a pause, its duration is used.
            let retryAt = pause > 0 ? now + pause : planned ?? now + delay
            // A failure here does not either, but is not repeated at once.
            if code == Failure.state, !state.isStoreReadable {
                state.storeFailure?.attempts = attempts
                state.storeFailure?.retryAt = retryAt
                return
            }
            state.storeFailure = Failure(code: code, message: message, attempts: attempts, retryAt: retryAt)
        }
        if state.withLock({ !$0.isStoreReadable }) { noteDoubt(true) }
    }

    /// A call succeeded: calls that were held back continue at once.
    func clearStoreFailure() {
        // As long as calls hang, others would.
        let isFull = callTimeouts.isFullOfChanges
        let wasTroubled = state.withLock { state in
            guard !state.isOtherStore, !isFull || state.storeFailure?.code != RemoteStoreError.unanswered.code else {
                return false
            }
            defer { state.storeFailure = nil }
            return state.storeFailure != nil
        }
        if wasTroubled { retryAll() }
    }

    /// The store could be read. That clears no error that prevents changes, unless there are none to send.
    func clearTroubleByReading() {
        if let storeFailure = state.withLock({ $0.storeFailure }), storeFailure.isOfChanges,
            replica.isStopped(by: storeFailure)
        {
            return
        }
        clearStoreFailure()
    }

    /// Retries everything that waits after a failure.
    func retryAll() {
        let numbers = replica.clearFailures()
        uploadQueue.withLock { $0.add(numbers) }
        wakeSignal.signal()
    }
}

extension Replica {
    /// Whether any item waits for the end of an error of the whole domain.
    fileprivate func isStopped(by storeFailure: Failure) -> Bool {
        withTree { $0.pending.values.contains { $0.failure.map { $0.code == storeFailure.code } ?? true } }
    }
}
