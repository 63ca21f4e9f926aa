internal import SystemPackage

/// The outcome of a noted change.
enum Applied: Hashable, Sendable {
    case done
    /// The name is taken by an item whose own change from the store is still pending, or the item is being sent.
    case deferred
    /// A call for the item was answered after this state was requested: it is requested again.
    case stale
    /// A materialized file has newer content in the store: it is fetched first, then both are applied.
    case needsContent(ItemNumber)
    /// A materialized file may have different bytes in the store under the same version: they are compared first.
    case needsComparison(ItemNumber)
    /// The folder has to be listed: the store may have more items in it than we know.
    case needsListing(ItemNumber)
    /// An unknown folder of the store has to be listed, after the folders above it.
    case needsFolder(ItemIdentifier)
    /// The item would become its own descendant: the folders in between are requested again, because one of them has
    /// moved.
    case needsAnswers([ItemIdentifier])
    /// The store's name is not valid in a local folder.
    case refused(String)
}

extension Replica {
    /// Makes the tree follow the store for one item. Called by one task at a time.
    /// - Parameters:
    ///   - asked: ``Incoming/asked``.
    ///   - staged: A file in staging with the newer content, to take the old one's place.
    ///   - rewrite: Whether its content may differ although the version is the same.
    ///   - isForced: Whether an item in the way is renamed now.
    func apply(
        _ item: Item, asked: UInt64, staged: StagedContent? = nil, rewrite: PossibleRewrite = .no,
        isForced: Bool = false
    ) throws(ReplicaError) -> Applied {
        guard item.identifier != .root else { return .done }
        guard item.filename.isValid else { return .refused(item.filename.description) }
        let (decision, now) = try withTreeWaking { (tree) throws(ReplicaError) -> (ApplyDecision, UInt64) in
            let now = tree.store.answers.count
            if tree.store.answers.isStale(item.identifier, asked: asked) { return (.finished(.stale), now) }
            return (try tree.applyDecision(item, staged: staged, rewrite, isForced: isForced), now)
        }
        // No call about the item was answered up to now.
        return try carryOut(decision, item, asked: now, staged: staged, rewrite, isForced: isForced)
    }

    /// A change that is made through the mount may take long, so what remains is decided again.
    private func carryOut(
        _ decision: ApplyDecision, _ item: Item, asked: UInt64, staged: StagedContent?, _ rewrite: PossibleRewrite,
        isForced: Bool
    ) throws(ReplicaError) -> Applied {
        switch decision {
        case .finished(let applied): return applied
        case .bounce(let number):
            try bounce(number)
            return try apply(item, asked: asked, staged: staged, rewrite: rewrite, isForced: isForced)
        case .undoMove(let number):
            try undoMove(number)
            return try apply(item, asked: asked, staged: staged, rewrite: rewrite, isForced: isForced)
        case .removeLocally(let number):
            // An item that another client moved to the trash counts as deleted.
            let isGone = item.parent == .trash
            let removal = TreeRemoval(top: number, isGone: isGone, asked: asked)
            return try removeTree(number, removal) || isGone ? .done : .deferred
        case .create(let parent): return try create(item, in: parent, asked: asked) ? .done : .deferred
        case .compare(let number):
            guard let plan = try settleDoubt(number, item, asked: asked, staged) else { return .deferred }
            guard plan == .takeTheirs, var staged else { return try apply(item, asked: asked, isForced: isForced) }
            staged.isPreferred = true
            return try apply(item, asked: asked, staged: staged, isForced: isForced)
        case .update(let update):
            guard !update.plan.keepsCopy else {
                guard try separateContents(of: update.number, item, asked: asked, staged) else { return .deferred }
                return try apply(item, asked: asked)
            }
            // Often a tool only set an earlier date.
            if update.isReversal, try mergeIfEqual(update.number, item, staged) { return try apply(item, asked: asked) }
            return try carryOut(update, item, asked: asked, staged)
        }
    }
}

/// The action for the tree; the system calls follow outside the lock, through the mount.
enum ApplyDecision {
    case finished(Applied)
    /// The item in the way is renamed first.
    case bounce(ItemNumber)
    /// The folder goes back to where the store has it.
    case undoMove(ItemNumber)
    /// The item is no longer in a listed folder.
    case removeLocally(ItemNumber)
    case create(parent: ItemNumber)
    /// After a power cut: both contents are compared first.
    case compare(ItemNumber)
    case update(PlannedUpdate)
}

/// How an item is changed to the store's newer state.
struct PlannedUpdate {
    var number: ItemNumber
    var plan: Reconciliation
    /// The folder that the store has it in.
    var parent: ItemNumber
    /// ``Node/edits`` when it was planned.
    var edits: UInt64
    /// Whether the new content is older than the former one.
    var isReversal: Bool
}
