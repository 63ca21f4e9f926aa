internal import Logging
internal import Threads

/// How the store's deletions may be applied now.
struct DeletionMode: Sendable {
    enum Kind: Sendable {
        /// Deleted items are removed permanently.
        case free
        /// Deleted items are set aside and can be restored.
        case aside
        /// They wait.
        case withheld
    }
    var kind: Kind
    /// Items that were replaced, not deleted: another file has the name.
    var replaced: Set<ItemIdentifier> = []
    /// The sequence of the newest deletion that this applies to.
    var newest = Int64.max
    /// Whether the user approved them.
    var isApproved = false

    var isWithheld: Bool { kind == .withheld }

    func allows(_ identifier: ItemIdentifier, _ sequence: Int64) -> Bool {
        kind != .withheld && sequence <= newest || replaced.contains(identifier)
    }

    func setsAside(_ identifier: ItemIdentifier) -> Bool { kind == .aside && !replaced.contains(identifier) }
}

extension SyncEngine {
    /// Decides how the noted deletions may be applied, and prepares that.
    func judgeDeletions() -> DeletionMode {
        do {
            guard let (window, verdict, replaced) = try checkDeletions() else {
                state.withLock { ($0.deletions.held, $0.deletions.nextCheck) = (0, nil) }
                return DeletionMode(kind: .free)
            }
            let isApproved = window.decision == .approved
            return DeletionMode(
                kind: try prepare(verdict, window), replaced: replaced, newest: isApproved ? window.newest : .max,
                isApproved: isApproved)
        } catch {
            log.error("deletions wait for the database", metadata: ["error": "\(error)"])
            return DeletionMode(kind: .withheld)
        }
    }

    /// - Returns: Nil if there is nothing to decide: nothing is deleted, or the domain is too small for a guard.
    private func checkDeletions() throws -> (DeletionWindow, DeletionVerdict, Set<ItemIdentifier>)? {
        let known = state.withLock { $0.deletions.window }
        guard try known != nil || replica.hasDeletions() else { return nil }
        let (counts, nextNumber, replaced) = try replica.countDeletions(firstLater: known?.firstLater)
        try replica.noteIncomingReversals()
        if known == nil, counts.noted == 0 || counts.items <= options.mostDeletions { return nil }
        let now = replica.now()
        var window =
            known
            ?? DeletionWindow(items: counts.items, firstLater: nextNumber, openedAt: now, changedAt: now)
        let isApproved = state.withLock { state in
            defer { state.deletions.isApproved = false }
            return state.deletions.isApproved
        }
        // Not for deletions that came after the approval.
        if window.decision == .held, isApproved { window.decision = .approved }
        window.observe(counts, now: now)
        if window != known { try keep(window) }
        return (window, MassDeletionGuard.verdict(window, counts, now: now, most: options.mostDeletions), replaced)
    }

    private func prepare(_ verdict: DeletionVerdict, _ window: DeletionWindow) throws -> DeletionMode.Kind {
        state.withLock { state in
            state.deletions.nextCheck = nil
            // The count of held deletions is kept during the recount: the user may be reading it.
            if verdict != .hold { state.deletions.held = 0 }
        }
        switch verdict {
        case .rest(let until):
            state.withLock { $0.deletions.nextCheck = until }
            return .aside
        case .wait(let until):
            state.withLock { $0.deletions.nextCheck = until }
            return .withheld
        case .apply: return window.decision == .approved ? .free : .aside
        case .hold:
            try hold(window)
            return .withheld
        case .close:
            // Before the first pull it is unknown whether there are more.
            guard state.withLock({ $0.pulls.done > 0 }) else { return window.decision == nil ? .aside : .withheld }
            try replica.discardAside()
            try keep(nil)
            return .free
        }
    }

    /// Asks the user, and restores the files that were set aside.
    private func hold(_ window: DeletionWindow) throws {
        if window.decision == nil {
            var window = window
            window.decision = .held
            try keep(window)
            log.warning("the store deleted more than half of the domain: waiting for approval")
        }
        let left = try replica.restoreAllDeleted()
        let held = try replica.countDeletions(firstLater: window.firstLater).counts.noted
        state.withLock { state in
            state.deletions.held = held + left
            if left > 0 { state.deletions.nextCheck = replica.now() + 10 }
        }
    }

    /// Records the window, so that it survives a restart.
    func keep(_ window: DeletionWindow?) throws {
        try replica.writeWindow(window)
        state.withLock { $0.deletions.window = window }
    }
}
