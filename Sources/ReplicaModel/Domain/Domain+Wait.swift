internal import GRDB
internal import SystemPackage

extension Domain {
    /// Waits until everything written before is in the store, everything the store had is applied (statement 26), and a
    /// power cut would lose none of it.
    /// What is written meanwhile is not waited for, but for an item that was already waiting to be sent. As long as the
    /// store is away, or an item waits for a person, it waits on, and what failed is tried again every ten seconds or sooner.
    /// - Throws: `CancellationError` when the waiting task is cancelled; what the database,
    ///   the disk or the store says.
    public func waitForStabilization() async throws { try await engine.awaited { try await becomeStable() } }

    private func becomeStable() async throws {
        let firstPull = engine.askForPull()
        // What the store had may make more to send, like a conflict's copy: another round then.
        for _ in 0..<4 {
            try await poll { !replica.isScanning }
            let isQuiet = try await drain(
                replica.unsent { _, _ in true }, isQuiet: { engine.isQuiet(after: firstPull) })
            if isQuiet { return try await engine.makeDurable() }
            let pull = engine.askForPull()
            try await poll { engine.state.withLock { $0.pullsDone >= pull } }
            let last = try replica.database.read { rows in
                try Int64.fetchOne(rows, sql: "SELECT max(sequence) FROM incoming") ?? 0
            }
            try await poll { try isApplied(upTo: last) || engine.isQuiet(after: firstPull) }
            if engine.isQuiet(after: firstPull) { return try await engine.makeDurable() }
        }
        try await engine.makeDurable()
    }

    /// Waits until the store has all that was changed at an item or below it before, but for what was moved there.
    /// - Throws: ENOENT; ENOTDIR; ``ItemError`` when the store will not have one of the items; `CancellationError`.
    public func waitForChanges(below path: [FileName]) async throws {
        let held = try await hold(path, listing: false)
        defer { release(held) }
        try await poll { !replica.isScanning }
        replica.settleWriters()
        let waiting = replica.unsent { tree, node in
            guard let above = tree.items[held.number] else { return false }
            if node === above { return true }
            guard let base = node.base else { return node.isInside(above) }
            return tree.items[base.parent]?.isInside(above) ?? false
        }
        _ = try await engine.awaited { try await drain(waiting, isQuiet: { false }, failsWhenParked: true) }
    }

    /// Waits until none of these items is pending, or `isQuiet`.
    /// - Returns: Whether it was quiet.
    private func drain(
        _ items: Set<ItemNumber>, isQuiet: () -> Bool, failsWhenParked: Bool = false
    ) async throws -> Bool {
        var left = items
        while true {
            if isQuiet() { return true }
            left = replica.withTree { tree in left.filter { tree.pending[$0] != nil } }
            if left.isEmpty { return false }
            if failsWhenParked, let error = replica.parkedError(among: left) { throw error }
            try await Task.sleep(for: .milliseconds(left.count > 1000 ? 200 : 20))
        }
    }

    private func isApplied(upTo last: Int64) throws -> Bool {
        let isListed = replica.withTree { $0.needsListing.isEmpty }
        return try isListed
            && replica.database.read { rows in
                try Int64.fetchOne(rows, sql: "SELECT min(sequence) FROM incoming") ?? .max
            } > last
    }

    private func poll(_ isTrue: () throws -> Bool) async throws {
        while try !isTrue() { try await Task.sleep(for: .milliseconds(20)) }
    }
}

extension SyncEngine {
    /// Has the store asked for its changes.
    /// - Returns: The number of the pull that begins after this.
    func askForPull() -> Int {
        let number = state.withLock { state in
            state.isPullWanted = true
            return state.pullsBegun + 1
        }
        wakeSignal.signal()
        return number
    }

    /// Whether both sides are in step, and the store was asked.
    fileprivate func isQuiet(after pull: Int) -> Bool {
        state.withLock { $0.pullsDone >= pull } && isQuiet()
    }
}

extension Replica {
    /// The pending items that `isMeant`.
    fileprivate func unsent(_ isMeant: (Tree, Node) -> Bool) -> Set<ItemNumber> {
        settleWriters()
        return withTree { tree in Set(tree.pending.values.filter { isMeant(tree, $0) }.map(\.number)) }
    }

    /// The error of an item that waits for a person.
    fileprivate func parkedError(among numbers: Set<ItemNumber>) -> ItemError? {
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
