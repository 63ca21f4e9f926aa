/// What determines whether an item can be uploaded now.
struct PendingView: Hashable, Sendable {
    var local: Change
    /// The item's local parent, if the store does not know it yet.
    var unknownParent: ItemNumber?
    /// The nearest folder above that has to be moved in the store first.
    var movingAncestor: ItemNumber?
    /// Another item that still has this item's new place in the store, but not here.
    var occupant: ItemNumber?
    /// An item that is still in this deleted folder in the store, but not here.
    var remainingChild: ItemNumber?
    /// Whether another call for it is running, or its state from the store is being applied.
    var isBusy: Bool
    /// The earliest time at which it may be uploaded, in seconds since 1970, because of debouncing or backoff.
    var notBefore: Double
    /// Whether an earlier create, or a modify with content, was not answered: the store is first asked for its result.
    var isUnanswered: Bool
    var options: CreateOptions
    /// Whether it must first be compared with the store's state after a power cut, which will queue it again.
    var isDoubtful = false
}

/// Whether an item can be uploaded, and what to send.
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

/// Orders uploads: parents before children, moves from the top down, a name after it has become free, a folder after it
/// has become empty. Each item waits for at most one other, so that the queue is drained in linear time.
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
