/// What decides whether an item can be sent now.
struct PendingView: Hashable, Sendable {
    var local: Change
    /// The parent the item has in the tree, when the store does not know it yet.
    var unknownParent: ItemNumber?
    /// The nearest folder above that has a move of its own to send.
    var movingAncestor: ItemNumber?
    /// Another item that the store still has at this item's new place, and that has left it here.
    var occupant: ItemNumber?
    /// An item that the store still has in this deleted folder, and that has left it here.
    var remainingChild: ItemNumber?
    /// Whether another call for it is under way, or its store state is being applied.
    var isBusy: Bool
    /// When it may be sent at the earliest: edits settle first, failures are waited for. Seconds since 1970.
    var notBefore: Double
    /// Whether an earlier create, or a modify with content, was not answered: the store is asked for its result first.
    var isUnanswered: Bool
    var options: CreateOptions
    /// Whether it is compared with the store's first, after a power cut: that brings it here again.
    var isDoubtful = false
}

/// Whether and what to send.
enum Readiness: Hashable, Sendable {
    case nothing
    case busy
    case waits(for: ItemNumber)
    case later(Double)
    case resolve
    case create(CreateOptions)
    case modify(ItemFields)
    case delete
}

/// Orders what goes to the store: parents before children, moves from the top down, a name is free before it is taken,
/// a folder is empty before it goes. Pure; each item waits for at most one other, so draining is linear.
func readiness(of item: PendingView, now: Double) -> Readiness {
    if item.isBusy { return .busy }
    if item.notBefore > now { return .later(item.notBefore) }
    if item.isUnanswered { return .resolve }
    if item.isDoubtful { return .nothing }
    switch item.local {
    case .none: return .nothing
    case .deleted: return item.remainingChild.map(Readiness.waits) ?? .delete
    case .created:
        if let blocker = item.unknownParent ?? item.movingAncestor ?? item.occupant { return .waits(for: blocker) }
        return .create(item.options)
    case .changed(let fields):
        guard !fields.isDisjoint(with: .place) else { return .modify(fields) }
        if let blocker = item.unknownParent ?? item.movingAncestor ?? item.occupant { return .waits(for: blocker) }
        return .modify(fields)
    }
}
