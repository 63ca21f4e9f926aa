internal import GRDB
internal import Logging
internal import Threads

extension SyncEngine {
    /// Records changes, usually within a tenth of a second and always within a second, checks files that stay open, and
    /// trims the cache. Sleeps while nothing happens.
    func runUpkeep() async {
        var nextRound = replica.now()
        var nextTrim = 0.0
        var reported: ReportedState?
        var canReserve = true
        while !Task.isCancelled {
            BackgroundPriority.take()
            let mark = wakeSignal.mark
            reported = reportState(after: reported)
            if replica.hasChanges {
                await rest(0.1, atMost: 1)
                if replica.recordingRest == nil { recordChanges() }
            } else {
                await wakeSignal.wait(since: mark, until: nextRound, now: replica.now)
            }
            guard replica.now() >= nextRound else { continue }
            replica.settleWriters()
            if replica.now() >= nextTrim { nextTrim = await trimCache() }
            if canReserve { canReserve = replica.folders.makeReserve() }
            uncached.withLock { $0.dropIdle(now: replica.now()) }
            replica.unloadIdle()
            nextRound = replica.now() + (replica.hasWriters ? 2 : 5)
        }
    }

    private func recordChanges() {
        guard replica.hasChanges else { return }
        do {
            try replica.record()
        } catch {
            log.error("the database cannot be written", metadata: ["error": "\(error)"])
        }
    }

    /// Requests a pull.
    func askNow() {
        state.withLock { $0.pulls.isWanted = true }
        wakeSignal.signal()
    }

    /// Whether both sides are in sync, as far as is known and possible.
    func isQuiet() -> Bool {
        let isIdle = state.withLock { state in
            !state.pulls.isWanted && state.pulls.done == state.pulls.begun && state.storeFailure == nil
                && state.arrivals.updating.isEmpty
        }
        return isIdle && !replica.isScanning && replica.isInStep && uploadQueue.withLock { $0.inFlight == 0 }
    }
}

extension Replica {
    /// Whether the database is behind the tree.
    var hasChanges: Bool { withTree { !$0.unrecorded.isEmpty } }

    /// The time since the last edit, in seconds. Negative if the clock was set back.
    var sinceEdit: Double {
        // An edit may come while this waits for the lock: then the difference is negative.
        let edited = withTree { $0.pending.editedAt }
        return now() - edited
    }

    /// Whether files are open for writing.
    var hasWriters: Bool { withTree { !$0.items.writing.isEmpty } }

    /// Whether there is nothing to send and nothing to apply.
    var isInStep: Bool {
        guard
            withTree({ tree in
                tree.settleWrittenFiles()
                return tree.items.needsListing.isEmpty && tree.pending.isEmpty
            })
        else { return false }
        // If the database can't be read, they are not in sync.
        return (try? database.read { try Incoming.count(in: $0) == 0 }) ?? false
    }
}
