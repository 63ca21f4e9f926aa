internal import GRDB
internal import Logging

extension SyncEngine {
    /// Records what changed, ten times a second while anything does, and looks after files that stay open.
    func runUpkeep() async {
        var round = 0
        while !Task.isCancelled {
            try? await Task.sleep(for: .milliseconds(100))  // Cancelled at the end.
            round += 1
            recordChanges()
            if round % 20 == 0 { replica.settleWriters() }
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

    /// Takes over what a person said in an earlier run.
    func restore() {
        let (reason, isImporting) = replica.standingOrders()
        state.withLock { state in
            state.disconnected = reason
            state.isImporting = isImporting
        }
    }

    /// Asks the store for news at once.
    func askNow() {
        state.withLock { $0.isPullWanted = true }
        bell.ring()
    }

    /// Whether both sides are in step, as far as is known and can be.
    func isQuiet() -> Bool {
        let isIdle = state.withLock { !$0.isPullWanted && $0.trouble == nil && $0.updating.isEmpty }
        return isIdle && !replica.isScanning && replica.isInStep && board.withLock { $0.inFlight == 0 }
    }
}

extension Replica {
    /// Whether the database is behind the tree.
    var hasChanges: Bool { look { !$0.changed.isEmpty || !$0.removed.isEmpty } }

    /// Whether there is nothing to send and nothing to apply.
    var isInStep: Bool {
        guard
            look({ tree in
                for node in tree.writing.values { tree.settle(node) }
                return tree.needsListing.isEmpty && tree.pending.values.allSatisfy(tree.isBelowLocalOnly)
            })
        else { return false }
        // A database that cannot be read is not in step.
        return (try? database.read { try Incoming.count(in: $0) == 0 }) ?? false
    }

    /// What was said in an earlier run: why the domain is disconnected, and whether an import goes on.
    func standingOrders() -> (disconnected: String?, isImporting: Bool) {
        // A database that cannot be read has no orders.
        let orders = try? database.read { rows in
            (try Meta.disconnected.read(from: rows), try Meta.importing.read(from: rows) != nil)
        }
        return orders ?? (nil, false)
    }
}

extension Tree {
    /// Whether a folder above stays local, and with it all that is in it.
    fileprivate func isBelowLocalOnly(_ node: Node) -> Bool {
        var here = node.parent
        while let folder = here {
            if !folder.flags.isDisjoint(with: [.excluded, .refused]) { return true }
            here = folder.parent
        }
        return false
    }
}
