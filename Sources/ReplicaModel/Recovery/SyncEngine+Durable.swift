internal import Logging
internal import SystemPackage
internal import Threads

extension SyncEngine {
    /// Returns when all that is recorded by now would survive a power cut, here and in the store.
    /// - Throws: What the disk, the database or the store says.
    func makeDurable() async throws {
        guard let round = try replica.beginSync() else { return }
        let outcome = Locked<(any Error)?>(nil)
        await BlockingWork.run { [replica] in
            do { try replica.syncTree(round) } catch { outcome.withLock { $0 = error } }
        }.value
        if let error = outcome.withLock({ $0 }) { throw error }
        try await store.makeDurable()
        try replica.noteStoreSynced(round)
    }

    /// The same as far as it goes now.
    func makeDurableIfPossible() async {
        let isReached = state.withLock {
            $0.pulls.isStoreRecognized && $0.storeFailure == nil && $0.disconnected == nil
        }
        guard isReached, !replica.isScanning else { return }
        do {
            try await makeDurable()
        } catch {
            log.info("not synced", metadata: ["error": "\(error)"])
        }
    }

    /// Gives back the space of a file's content that the store has too, and would have after a power cut.
    /// - Returns: As ``Replica/evictFile(_:)``.
    func evict(_ number: ItemNumber) throws(EvictionRefusal) -> Int64? {
        if let refusal = replica.evictionRefusal(of: number) { throw refusal }
        guard replica.isConfirmed(number) else { throw .unsyncedEdits }
        return try replica.evictFile(number)
    }

    /// Has what is recorded brought to the disks, now and then; whoever writes in between does not wait for it.
    func runRounds() async {
        while !Task.isCancelled {
            let mark = wakeSignal.mark
            var rest = Self.roundInterval
            if replica.isBehindDisks, !replica.isScanning {
                let begin = replica.now()
                do {
                    try await makeDurable()
                } catch {
                    log.info("not synced", metadata: ["error": "\(error)"])
                }
                rest = max(rest, (replica.now() - begin) * Self.mostOfTheTime)
            } else {
                await wakeSignal.wait(since: mark, until: nil, now: replica.now)
            }
            try? await Task.sleep(for: .seconds(rest))  // Cancelled only at the end.
        }
    }

    /// Seconds from one sync to the next.
    private static let roundInterval = 5.0
    /// How many times as long as a sync took none follows.
    private static let mostOfTheTime = 10.0
}
