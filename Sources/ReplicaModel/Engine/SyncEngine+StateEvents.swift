internal import Threads

/// The last state that was reported to listeners.
struct ReportedState: Hashable {
    var state: DomainReport.State
    var reason: String?
    var pending: Int
    var here: Int64
}

extension SyncEngine {
    /// Tells listeners if the domain's state or one of its sets changed.
    func reportState(after reported: ReportedState?) -> ReportedState? {
        guard replica.events.isHeard else { return nil }
        // If the database can't be read, nothing is reported.
        guard let here = try? replica.database.read({ try ItemCounts.read(from: $0).here }) else { return reported }
        let (pending, isMoving) = replica.withTree { ($0.pending.count, $0.isMoving) }
        let (state, reason) = stateAndReason(isMoving: isMoving)
        let now = ReportedState(state: state, reason: reason, pending: pending, here: here)
        if reported?.state != state || reported?.reason != reason {
            replica.post(.state, detail: reason.map { "\(state.rawValue): \($0)" } ?? state.rawValue)
        }
        if let reported, reported.pending != pending { replica.post(.pendingSet) }
        if let reported, reported.here != here { replica.post(.materializedSet) }
        return now
    }
}

extension Tree {
    /// Whether a pending item is waiting for something other than the user.
    var isMoving: Bool { pending.values.contains { $0.failure == nil || $0.failure?.retryAt != nil } }
}
