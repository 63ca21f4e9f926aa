internal import Logging
internal import SystemPackage
internal import Threads

extension SyncEngine {
    /// Returns when everything recorded so far would survive a power cut, here and in the store.
    /// - Parameter asksStore: Whether to sync the store too.
    /// - Throws: The error of the disk, the database or the store.
    func makeDurable(asksStore: Bool = true) async throws {
        guard let round = try replica.beginSync() else { return }
        let outcome = Locked<(any Error)?>(nil)
        await BlockingWork.run { [replica] in
            do { try replica.syncTree(round) } catch { outcome.withLock { $0 = error } }
        }.value
        if let error = outcome.withLock({ $0 }) { throw error }
        guard asksStore else { return }
        try await store.makeDurable()
        try replica.noteStoreSynced(round)
    }

    /// Makes everything durable if the store can be reached and no scan is running; errors are logged.
    func makeDurableIfPossible() async {
        guard mayCallStore, !replica.isScanning else { return }
        do {
            try await makeDurable()
        } catch {
            log.info("sync failed", metadata: ["error": "\(error)"])
        }
    }

    /// Syncs what was recorded, at intervals, so that no writer has to wait for it.
    func runRounds() async {
        while !Task.isCancelled {
            let mark = wakeSignal.mark
            var rest = Self.roundIntervalSeconds
            let asksStore = mayCallStore
            if replica.isBehindDisks, !replica.isScanning, asksStore || !replica.isSyncedHere {
                let begin = replica.now()
                do {
                    try await makeDurable(asksStore: asksStore)
                } catch {
                    log.info("sync failed", metadata: ["error": "\(error)"])
                }
                rest = max(rest, (replica.now() - begin) * Self.mostOfTheTime)
            } else {
                await wakeSignal.wait(since: mark, until: nil, now: replica.now)
            }
            try? await Task.sleep(for: .seconds(rest))  // Throws only when the task is cancelled, at the end.
        }
    }

    /// The minimum number of seconds between two syncs.
    private static let roundIntervalSeconds = 5.0
    /// The pause after a sync, as a multiple of its duration.
    private static let mostOfTheTime = 10.0
}
