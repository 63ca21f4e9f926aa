internal import GRDB
internal import SystemPackage
internal import Threads

extension Domain {
    /// Waits until everything written before is in the store, everything the store had is applied (statement 26), and a
    /// power cut would lose none of it. Later writes are not waited for, except to items that were already pending.
    /// While the store is unreachable, or an item waits for the user, it keeps waiting, and failed items are retried
    /// every ten seconds or sooner.
    /// - Parameters:
    ///   - work: Receives the progress; changes found in the store are added to it.
    ///   - isShown: Whether the mount must show it, too: a program that holds a folder in the kernel, for example while a file
    ///     is fetched for link(2), is waited for then.
    /// - Throws: `CancellationError` if the waiting task is cancelled; errors of the database, the disk or the store.
    package func waitForStabilization(
        work: RequestProgress = RequestProgress(), isShown: Bool = false
    ) async throws {
        try await engine.awaited {
            try await engine.pollingEverything(isInsisting: isShown) {
                try await becomeStable(work, tellsAll: isShown)
            }
            try await engine.makeDurable()
            if isShown { try await awaitInvalidations() }
        }
    }

    /// - Parameter tellsAll: Whether an answer of the store that is rejected is waited for until there is a valid one.
    private func becomeStable(_ work: RequestProgress, tellsAll: Bool) async throws {
        let firstPull = engine.askForPull()
        // The store's changes may cause new uploads, for example of a conflict copy: another round follows then.
        for _ in 0..<4 {
            try await awaitScan(work)
            let isQuiet = try await drain(
                replica.unsent { _, _ in true }, work, isQuiet: { engine.isQuiet(after: firstPull, tellsAll) })
            if isQuiet { return }
            let pull = engine.askForPull()
            try await poll { engine.hasPulled(pull, tellsAll) }
            try await awaitApplied(work) { engine.isQuiet(after: firstPull, tellsAll) }
            if engine.isQuiet(after: firstPull, tellsAll) { return }
        }
    }

    /// Waits until the kernel has dropped what it had cached of everything that was changed.
    private func awaitInvalidations() async throws {
        guard let presenter = replica.presenter.withLock({ $0 }) else { return }
        // The thread that made a change may not have queued its invalidation yet.
        var unreported = replica.unreportedPlaces
        let areMade = Locked(false)
        presenter.afterInvalidations { areMade.withLock { $0 = true } }
        try await poll { areMade.withLock { $0 } }
        try await poll {
            if !unreported.isEmpty { unreported.formIntersection(replica.unreportedPlaces) }
            return unreported.isEmpty
        }
    }

    /// Waits until the store has all earlier changes of an item and of everything below it, except of items that were
    /// moved there, and a power cut would lose none of it.
    /// - Parameter work: Receives the progress.
    /// - Throws: ENOENT; ENOTDIR; ``ItemError`` if the store rejects one of the items; `CancellationError`; errors of the database, the
    ///   disk or the store.
    package func waitForChanges(below path: [FileName], work: RequestProgress = RequestProgress()) async throws {
        let held = try await hold(path, listing: false)
        defer { release(held) }
        try await awaitScan(work)
        replica.settleWriters()
        let waiting = replica.unsent { tree, node in
            guard let above = tree.items[held.number] else { return false }
            if node === above { return true }
            guard let base = node.base else { return node.isInside(above) }
            return tree.items[base.parent]?.isInside(above) ?? false
        }
        try await engine.awaited {
            _ = try await drain(waiting, work, isQuiet: { false }, failsWhenParked: true)
            // The store of a disconnected domain is not called (statement 25), and one that is away cannot confirm anything.
            try await engine.makeDurable(asksStore: engine.mayCallStore)
        }
    }

    /// Waits until none of these items is pending, or until `isQuiet`.
    /// - Returns: Whether it was quiet.
    private func drain(
        _ items: [ItemNumber: Int64], _ work: RequestProgress, isQuiet: () -> Bool, failsWhenParked: Bool = false
    ) async throws -> Bool {
        var left = items
        work.find(items: items.count, bytes: items.values.reduce(0) { $0.saturatingAdd($1) })
        work.endCounting()
        while true {
            if isQuiet() { return true }
            left = replica.withTree { tree in left.filter { tree.pending[$0.key] != nil } }
            let bytes = left.values.reduce(Int64(0)) { $0.saturatingAdd($1) }
            let sent = engine.statistics.withLock { $0.uploading { left[$0] != nil } }
            work.setLeft(items: left.count, bytes: max(0, bytes - sent))
            if left.isEmpty { return false }
            if failsWhenParked, let error = replica.parkedError(among: left.keys) { throw error }
            // Counting all that are left takes the tree's lock: the more there are, the less often.
            try await Task.sleep(for: .milliseconds(min(200, max(20, left.count / 40))))
        }
    }

    /// Waits for the scan of the tree, whose findings have to be sent.
    private func awaitScan(_ work: RequestProgress) async throws {
        let found = work.counts.itemsTotal
        try await poll {
            guard replica.isScanning else { return true }
            work.setFound(items: found + replica.withTree { $0.pending.count }, bytes: work.counts.bytesTotal)
            return false
        }
        work.setFound(items: found, bytes: work.counts.bytesTotal)
    }

    /// Waits until all changes that are noted now are applied and all folders are listed, or `isQuiet`.
    private func awaitApplied(_ work: RequestProgress, isQuiet: () -> Bool) async throws {
        var left = try replica.database.read { try NotedChanges(in: $0) }
        work.find(items: left.count)
        var rounds = 0
        try await poll {
            rounds += 1
            try replica.database.read { try left.update(isCounting: rounds % 25 == 0, in: $0) }
            if rounds % 25 == 0 { work.setLeft(items: left.count, bytes: 0) }
            return left.isEmpty && replica.withTree { $0.items.needsListing.isEmpty } || isQuiet()
        }
        work.setLeft(items: 0, bytes: 0)
    }

    private func poll(_ isTrue: () throws -> Bool) async throws {
        while try !isTrue() { try await Task.sleep(for: .milliseconds(20)) }
    }
}

extension SyncEngine {
    /// Requests a pull.
    /// - Returns: The number of the pull that begins after this.
    func askForPull() -> Int {
        let number = state.withLock { state in
            state.pulls.isWanted = true
            return state.pulls.begun + 1
        }
        wakeSignal.signal()
        return number
    }

    /// Whether both sides are in sync, after a successful pull.
    fileprivate func isQuiet(after pull: Int, _ tellsAll: Bool) -> Bool { hasPulled(pull, tellsAll) && isQuiet() }

    /// Whether this pull or a later one has ended, and if it `tellsAll`, not with an answer that was rejected.
    fileprivate func hasPulled(_ pull: Int, _ tellsAll: Bool) -> Bool {
        state.withLock { $0.pulls.done >= pull && (!tellsAll || $0.feedTrouble == nil) }
    }
}

extension Replica {
    /// The pending items that `isMeant`.
    /// - Returns: The number of bytes of content to send for each.
    fileprivate func unsent(_ isMeant: (Tree, Node) -> Bool) -> [ItemNumber: Int64] {
        settleWriters()
        return withTree { tree in
            tree.pending.values.reduce(into: [:]) { if isMeant(tree, $1) { $0[$1.number] = $1.unsentBytes } }
        }
    }

    /// The error of an item that waits for the user.
    fileprivate func parkedError(among numbers: some Sequence<ItemNumber>) -> ItemError? {
        withTree { tree in
            for number in numbers {
                guard let failure = tree.pending[number]?.failure, failure.retryAt == nil else { continue }
                return ItemError(
                    code: failure.code, message: failure.message, attempts: failure.attempts, retryAt: nil)
            }
            return nil
        }
    }
}
