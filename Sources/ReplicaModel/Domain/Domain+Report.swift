import Threads

extension Domain {
    /// The present state of the domain. The cost doesn't depend on the domain's size: it may be called every second.
    /// - Throws: A ``DatabaseFailure``.
    package func report() throws -> DomainReport {
        // If changes can't be recorded now, that is reported, and the counts are the last recorded ones.
        if replica.hasChanges { try? replica.record() }
        let counts = try replica.database.read { try ItemCounts.read(from: $0) }
        let (pending, isMoving) = replica.withTree { ($0.pending.count, $0.isMoving) }
        let (state, reason) = engine.stateAndReason(isMoving: isMoving)
        let failures = counts.errors > 0 ? replica.failures() : FailureSummary()
        let isAway = state == .disconnected || state == .offline
        let (refused, missing) = engine.state.withLock { state in
            let rejected = state.rejected
            let unknown = Set(rejected.invalid.keys).union(state.postponed.unknown).count
            return (rejected.refused.count + (rejected.leftOut?.count ?? 0) + unknown, rejected.reason)
        }
        let notFetched = engine.reasonOfFailedFetches()
        return DomainReport(
            state: state, reason: reason ?? failures.reason ?? notFetched ?? missing,
            nextTry: engine.nextTry(of: failures), pending: pending,
            errors: counts.errors + refused,
            conflicts: counts.conflicts, items: counts.items, bytes: counts.bytes, bytesHere: counts.here,
            localOnly: counts.localOnly, kept: try replica.folders.countKept(),
            uploads: isAway ? nil : engine.uploads(unsentBytes: counts.unsentBytes),
            downloads: engine.downloads())
    }
}

extension SyncEngine {
    /// What the domain is doing, and why.
    /// - Parameter isMoving: Whether a pending item does not wait for the user.
    func stateAndReason(isMoving: Bool) -> (DomainReport.State, String?) {
        let (disconnected, held, storeFailure, isImporting, isBusy) = state.withLock { state in
            (
                state.disconnected, state.deletions.held, state.storeFailure ?? state.feedTrouble,
                state.isImporting || state.reimports > 0,
                state.pulls.isWanted || !state.arrivals.updating.isEmpty
            )
        }
        if let disconnected { return (.disconnected, disconnected.words) }
        if held > 0 {
            return (
                .held,
                "the store deleted \(held) items: 'replica approve' deletes them here too, 'replica restore' uploads"
                    + " them again"
            )
        }
        if let failure = replica.recording.withLock({ $0.failure }) { return (.offline, failure) }
        if let storeFailure { return (.offline, storeFailure.message) }
        if pause.left > 0 { return (.offline, RemoteStoreError.busy(seconds: 0).message) }
        if replica.isScanning || isImporting { return (.importing, scanFailure.withLock { $0 }) }
        let isFetching = fetches.withLock { !$0.isEmpty }
        let isSending = uploadQueue.withLock { $0.inFlight > 0 }
        let isSyncing = isMoving || isBusy || isFetching || isSending || replica.hasIncoming
        return (isSyncing ? .syncing : .idle, nil)
    }

    /// - Parameter unsentBytes: The recorded number, so that many items need not be counted again.
    func uploads(unsentBytes: Int64) -> TransferReport? {
        let now = replica.now()
        // Both at the same moment: an item that was sent is no longer pending, and must count once.
        return replica.withTree { tree in
            statistics.withLock { statistics in
                guard !tree.pending.isEmpty else { return nil }
                let twice = statistics.answered.filter { tree.pending[$0.key] != nil }
                let unsent =
                    tree.pending.count <= Self.few
                    ? tree.unsentBytes(but: twice)
                    : max(0, unsentBytes - twice.values.reduce(0) { $0.saturatingAdd($1) })
                let done = statistics.sentBytes.saturatingAdd(statistics.uploading())
                let rate = statistics.sending.rate(now: now)
                return TransferReport(
                    itemsDone: statistics.sentItems,
                    itemsTotal: statistics.sentItems + tree.pending.count - twice.count, bytesDone: done,
                    bytesTotal: max(done, statistics.sentBytes.saturatingAdd(unsent)), itemsPerSecond: rate.items,
                    bytesPerSecond: rate.bytes, seconds: rate.seconds)
            }
        }
    }

    /// How many items are examined for a report.
    private static let few = 1000

    func downloads() -> TransferReport? {
        let now = replica.now()
        return statistics.withLock { statistics in
            guard !statistics.fetches.isEmpty else { return nil }
            let rate = statistics.fetching.rate(now: now)
            let running = statistics.fetches.values.reduce((done: Int64(0), size: Int64(0))) {
                ($0.done.saturatingAdd($1.done), $0.size.saturatingAdd($1.size))
            }
            return TransferReport(
                itemsDone: statistics.fetchedItems, itemsTotal: statistics.fetchedItems + statistics.fetches.count,
                bytesDone: statistics.fetchedBytes.saturatingAdd(running.done),
                bytesTotal: statistics.fetchedBytes.saturatingAdd(running.size),
                itemsPerSecond: rate.items, bytesPerSecond: rate.bytes, seconds: rate.seconds)
        }
    }
}

extension Tree {
    /// The number of bytes of content that are still to be sent.
    fileprivate func unsentBytes(but others: [ItemNumber: Int64]) -> Int64 {
        pending.values.reduce(0) { others[$1.number] == nil ? $0.saturatingAdd($1.unsentBytes) : $0 }
    }
}

extension Node {
    /// The number of bytes of a file's content that are not local.
    var missingBytes: Int64 {
        kind == .file && materialization != .whole ? max(0, fingerprint.size - ranges.count) : 0
    }

    /// The number of bytes of its content that are still to be sent.
    var unsentBytes: Int64 {
        let isSent = flags.isDisjoint(with: [.deleted, .excluded, .special, .refused])
        return kind == .file && dirty.contains(.contents) && isSent ? fingerprint.size : 0
    }
}

extension Replica {
    /// Whether changes of the store are still to be applied.
    var hasIncoming: Bool {
        // If the database can't be read, there are none; other calls report the error.
        (try? database.read { try Incoming.count(in: $0) > 0 }) ?? false
    }
}
