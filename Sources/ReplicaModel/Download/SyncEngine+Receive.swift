internal import Glibc
internal import Logging
internal import SystemPackage
internal import Threads

extension SyncEngine {
    /// Pulls the store's changes if there is a reason to, and applies all noted changes.
    func receive() async {
        guard !replica.isScanning, state.withLock({ $0.disconnected == nil }) else { return }
        if pause.left == 0, state.withLock({ $0.pulls.isWanted || $0.pulls.next <= replica.now() }) { await pull() }
        if replica.recordingRest == nil, knowsOwnCalls() { await applyIncoming() }
    }

    /// Whether all calls of the last run are answered. Until then, what they created would be mistaken for another client's.
    private func knowsOwnCalls() -> Bool {
        if state.withLock({ $0.pulls.knowsOwnCalls }) { return true }
        guard !replica.hasUnansweredCalls else { return false }
        state.withLock { $0.pulls.knowsOwnCalls = true }
        return true
    }

    /// Pulls the store's changes and notes them.
    func pull() async {
        let number = state.withLock { $0.pulls.begin() }
        let asked = replica.answers
        do throws(ReceiveFailure) {
            try await ReceiveFailure.asking(recognizeStore)
            let isAll = try await pullChanges()
            state.withLock { $0.pulls.lastAsked = asked }
            clearTroubleByReading()
            noteDoubt(false)
            takeProperties()
            askForUsage(olderThan: Self.longestSeconds)
            state.withLock { state in
                state.feedTrouble = nil
                state.pulls.takesOtherStore = false
                // These changes are applied before more are requested.
                state.pulls.next = replica.now() + (isAll ? options.pullIntervalSeconds : Self.pauseSeconds)
                if isAll { state.pulls.done = number }
            }
        } catch {
            state.withLock { $0.pulls.fail() }
            // A store polls everything only for a waiting caller, which may have given up.
            if state.withLock({ $0.pulls.pollers > 0 }) { store.pollEverything() }
            switch error {
            case .store(let error): noteFeedFailure(error)
            case .here(let trouble):
                noteTrouble(trouble)
                state.withLock { state in
                    state.pulls.isWanted = true
                    state.pulls.next = state.storeFailure?.retryAt ?? replica.now() + options.pullIntervalSeconds
                }
            }
        }
    }

    /// The pause before missing items are requested.
    private static let pauseSeconds = 0.1

    private func noteFeedFailure(_ error: RemoteStoreError) {
        if case .malformedAnswer = error {
            log.warning("an answer was rejected", metadata: ["error": "\(error.message)"])
            let jitter = random()
            state.withLock { state in
                let attempts = (state.feedTrouble?.attempts ?? 0) + 1
                let delay = Backoff.delay(attempts: attempts, jitter: jitter, isAwaited: state.waiters > 0)
                let retryAt = replica.now() + delay
                state.feedTrouble = Failure(
                    code: error.code, message: error.message, attempts: attempts, retryAt: retryAt)
                state.pulls.next = retryAt
                state.pulls.done = state.pulls.begun
            }
            return
        }
        noteRecognitionFailure(error)
        state.withLock { state in
            state.pulls.next = state.storeFailure?.retryAt ?? replica.now() + options.pullIntervalSeconds
        }
    }

    /// Logged when there are more than before, not at each listing.
    private func noteLeftOut(_ items: LeftOutItems?) {
        guard state.withLock({ $0.rejected.leaveOut(items) }), let items else { return }
        log.warning(
            "items of the store are left out", metadata: ["count": "\(items.count)", "example": "\(items.example)"])
    }

    /// How many batches are noted before their changes are applied.
    private static let mostBatches = 1_000
    /// How many batches in a row may be empty while the store says that there are more.
    private static let mostEmptyBatches = 100

    /// Requests the changes since the last anchor, and notes them in the database.
    /// - Returns: Whether there are no more changes, and no item that is waited for is missing.
    private func pullChanges() async throws(ReceiveFailure) -> Bool {
        var isListed = false
        var arrivals: Arrivals = [:]
        var empty = 0
        var isIncomplete = false
        for _ in 0..<Self.mostBatches {
            if Task.isCancelled { throw .store(.cancelled) }
            await Task.yield()  // The store may answer without suspending.
            guard let anchor = replica.anchor(), store.properties.hasChangeFeed else {
                if isListed { return true }
                isListed = true
                try await relistFolders()
                continue
            }
            let asked = replica.answers
            let batch: ChangeBatch
            do throws(RemoteStoreError) {
                batch = try await store.enumerateChanges(from: anchor)
            } catch {
                guard error == .syncAnchorExpired || isAllowed(error) else { throw .store(error) }
                if isListed { return true }
                // An item that moved while the folders were listed may be in no listing: the changes since then report
                // it.
                isListed = true
                try await relistFolders()
                continue
            }
            var changes =
                batch.updated.map {
                    let rewrite: PossibleRewrite = batch.rewritten.contains($0.identifier) ? .told : .no
                    return Incoming(identifier: $0.identifier, item: $0, asked: asked, rewrite: rewrite)
                }
                + batch.deleted.map { Incoming(identifier: $0, item: nil, asked: asked) }
            try ReceiveFailure.recording { () throws(LocalStateFailure) in
                try replica.recognizeSuccessors(in: &changes, &arrivals)
                try replica.noteIncoming(changes, anchor: batch.anchor)
            }
            noteLeftOut(batch.leftOut)
            isIncomplete = isIncomplete || batch.isIncomplete
            guard batch.moreComing else {
                return state.withLock { [isIncomplete] in
                    $0.pulls.isLast(isIncomplete: isIncomplete, at: replica.now())
                }
            }
            empty = changes.isEmpty ? empty + 1 : 0
            if empty > Self.mostEmptyBatches {
                throw .store(.malformedAnswer("the store announces more changes but returns none"))
            }
        }
        return false
    }
}
