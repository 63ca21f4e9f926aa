internal import SystemPackage

extension Tree {
    /// Decides what the store's state of an item means for the tree.
    func applyDecision(
        _ item: Item, staged: StagedContent?, _ rewrite: PossibleRewrite = .no, isForced: Bool
    ) throws(ReplicaError) -> ApplyDecision {
        let known = try find(item.identifier)
        let parent = try folder(of: item, as: known)
        guard let node = known else {
            // The fetched content belongs to an item that is gone or was replaced.
            guard staged == nil else { return .finished(.done) }
            guard let parent, parent.kind == .folder, parent.materialization == .whole, !parent.isDeleted else {
                return .finished(.done)  // Its folder is listed when it is first read.
            }
            return try decideNew(item, in: parent, isForced: isForced)
        }
        if node.isInFlight { return .finished(.deferred) }
        // It may be the result of our unanswered call: the store is asked about that first.
        if node.sentContent?.isContent(of: item) == true {
            guard node.isDeleted else { return .finished(.deferred) }
            parent.map { adoptVersion(node, item, $0) }
            return .finished(.done)
        }
        guard node.kind == item.kind else { return .finished(.refused(item.filename.description)) }
        try recognise(item, as: node)
        recognizeInterimName(item, as: node)
        try recogniseLoss(node, item, parent)
        if !node.flags.isDisjoint(with: .inDoubt), !node.isDeleted, node.base != nil,
            let decision = decideDoubtful(node, item, staged)
        {
            return decision
        }
        let isOther = mayBeRewritten(node, item, rewrite)
        if isOther, rewrite != .proven, staged == nil, needsComparison(node) {
            return .finished(.needsComparison(node.number))
        }
        let remote = remoteChange(node, item, parent, isRewritten: isOther && node.materialization != .dataless)
        let isReversal = remote.isOfContents && noteReversal(node, item)
        let plan = reconcile(local: node.changeToKeep, remote: remote, holdsContent: node.materialization == .whole)
        if node.isDeleted { return try decideDeleted(node, plan, item, parent) }
        if plan.down == .nothing, let parent {
            adoptVersion(node, item, parent)
            return .finished(.done)
        }
        // Its unchanged folder in the store may be deleted here: items that were moved out of it stay.
        guard let parent, parent.kind == .folder, !parent.isDeleted || !remote.isMove else {
            guard item.parent != .trash, hasLocalChanges(node) else { return .removeLocally(node.number) }
            guard let parent, parent.kind == .folder else { return .finished(.needsFolder(item.parent)) }
            // The store refuses to delete a folder with new entries.
            return parent.isPending && parent.failure == nil ? .finished(.deferred) : .removeLocally(node.number)
        }
        if remote.isMove, parent.materialization != .whole, parent !== node.parent {
            return hasLocalChanges(node) ? .finished(.needsListing(parent.number)) : .removeLocally(node.number)
        }
        if case .update(let fields) = plan.down, !fields.isDisjoint(with: .place) {
            if let blocker = try blocker(of: item, node, in: parent, isForced: isForced) { return blocker }
        }
        if case .update(let fields) = plan.down, fields.contains(.contents), node.kind == .file,
            node.materialization == .whole, item.size > 0, staged == nil,
            // An empty file has no content to preserve.
            node.fingerprint.size > 0 || plan.keepsCopy,
            !plan.keepsCopy || node.fingerprint.size == item.size  // Both may have written the same.
        {
            if !plan.keepsCopy { try demandReplaceable(node) }
            return .finished(.needsContent(node.number))
        }
        return .update(
            PlannedUpdate(
                number: node.number, plan: plan, parent: parent.number, edits: node.edits, isReversal: isReversal))
    }

    /// Whether a call for the item is in progress, or was answered after the store was asked for the state that is being
    /// applied: that state may be older than the item's.
    /// - Parameter asked: ``Incoming/asked``.
    func isOutdated(_ node: Node, asked: UInt64) -> Bool {
        node.isInFlight || node.base.map { store.answers.isStale($0.identifier, asked: asked) } ?? false
    }

    /// Whether an item or something in it has local changes, or is open for writing.
    private func hasLocalChanges(_ node: Node) -> Bool {
        if node.isPending { return true }
        guard node.kind == .folder else { return isWritten(node) }
        return pending.values.contains { $0.isInside(node) } || items.writing.values.contains { $0.isInside(node) }
    }

    private func remoteChange(_ node: Node, _ item: Item, _ parent: Node?, isRewritten: Bool) -> Change {
        guard let base = node.base else { return .created }
        var fields: ItemFields = isRewritten ? .contents : []
        if base.version.content != item.version.content, node.kind == .file { fields.insert(.contents) }
        if base.name != item.filename { fields.insert(.filename) }
        if base.parent != parent?.number { fields.insert(.parent) }
        if base.version.metadata != item.version.metadata { fields.formUnion(.metadata) }
        return fields.isEmpty ? .none : .changed(fields)
    }

    private func decideDeleted(
        _ node: Node, _ plan: Reconciliation, _ item: Item, _ parent: Node?
    ) throws(ReplicaError) -> ApplyDecision {
        guard plan.down == .bringBack else {
            if let parent { adoptVersion(node, item, parent) }
            return .finished(.done)
        }
        // Without its tombstone it is a new item.
        drop(node)
        return try applyDecision(item, staged: nil, isForced: false)
    }

    /// An item that is new here, whose name may be in use.
    private func decideNew(_ item: Item, in parent: Node, isForced: Bool) throws(ReplicaError) -> ApplyDecision {
        if unansweredItem(at: item.filename, in: parent)?.isNew == true { return .finished(.deferred) }
        guard let other = try child(item.filename, of: parent) else { return .create(parent: parent.number) }
        if other.isInFlight { return .finished(.deferred) }
        if isOfTrash(other) { return .finished(.refused(item.filename.description)) }
        guard other.isNew, !other.flags.contains(.special) else {
            return try decideOccupied(other, isForced: isForced)
        }
        guard other.kind == item.kind else { return .bounce(other.number) }
        switch item.kind {
        case .folder:
            mergeFolder(other, item, parent)
            askAgain(for: other)
            return .finished(.done)
        case .symlink, .file:
            // Local-only items never merge with the store's.
            guard !other.isLocalOnly else { return .bounce(other.number) }
            // When the local file is sent, the store compares the contents, and answers with its own item if they are
            // equal.
            other.flags.insert(.mayAlreadyExist)
            note(other)
            pending.wake()
            return .finished(.deferred)
        }
    }

    /// The name is taken by an item that the store knows, here or at another place.
    private func decideOccupied(_ other: Node, isForced: Bool) throws(ReplicaError) -> ApplyDecision {
        let hasMovedHere = !other.dirty.isDisjoint(with: .place)
        if !hasMovedHere, !isForced, let base = other.base {
            let isComing = try reading { try Incoming.contains(base.identifier, in: $0) }
            if isComing { return .finished(.deferred) }
        }
        return .bounce(other.number)
    }

    /// Why an item cannot move to the store's place for it, or nil when it can.
    private func blocker(
        of item: Item, _ node: Node, in parent: Node, isForced: Bool
    ) throws(ReplicaError) -> ApplyDecision? {
        if parent.isInside(node) {
            // Both sides moved folders into each other: the local move is taken back.
            var here = parent
            var between: [ItemIdentifier] = []
            while here !== node, let above = here.parent {
                if here.dirty.contains(.parent) { return .undoMove(here.number) }
                here.base.map { between.append($0.identifier) }
                here = above
            }
            // One of them moved in the store, and the report of that is still pending.
            return .finished(isForced ? .needsAnswers(between) : .deferred)
        }
        guard let other = try child(item.filename, of: parent), other !== node else { return nil }
        if other.isInFlight { return .finished(.deferred) }
        return other.isNew ? .bounce(other.number) : try decideOccupied(other, isForced: isForced)
    }

    /// A folder that was created on both sides is one folder.
    private func mergeFolder(_ node: Node, _ item: Item, _ parent: Node) {
        setBase(Base(item, parent: parent.number), of: node)
        node.flags.subtract([.createSent, .mayAlreadyExist, .reimport])
        node.sent = nil
        node.dirty.subtract([.place, .contents])
        note(node)
    }

    /// Adopts the store's version of an item whose local state needs no change.
    func adoptVersion(_ node: Node, _ item: Item, _ parent: Node) {
        guard let former = node.base else { return }
        clearFailure(node)
        setBase(Base(item, parent: parent.number), of: node)
        // A reimported item is based on the former content. If the store's content differs, that is a conflict.
        if node.flags.contains(.reimport) { node.base?.version.content = former.version.content }
        if !node.isDeleted { node.comparePlace() }
        note(node)
    }
}

extension Change {
    /// Whether the item has other content.
    fileprivate var isOfContents: Bool {
        guard case .changed(let fields) = self else { return false }
        return fields.contains(.contents)
    }

    /// Whether the item is at a new place.
    fileprivate var isMove: Bool {
        switch self {
        case .none, .deleted: false
        case .created: true
        case .changed(let fields): !fields.isDisjoint(with: .place)
        }
    }
}

extension Base {
    init(_ item: Item, parent: ItemNumber) {
        self.init(
            identifier: item.identifier, parent: parent, name: item.filename, version: item.version, size: item.size,
            capabilities: item.capabilities, isUploaded: item.isUploaded)
    }
}

extension Node {
    /// ``localChange`` without the truncation of a dataless file: the store's newer content takes precedence.
    var changeToKeep: Change {
        guard case .changed(let fields) = localChange, kind == .file, materialization != .whole else {
            return localChange
        }
        let kept = fields.subtracting(.contents)
        return kept.isEmpty ? .none : .changed(kept)
    }

    /// The local changes of the item since the last sync.
    var localChange: Change {
        if isDeleted { return .deleted }
        if isNew { return .created }
        return dirty.isEmpty ? .none : .changed(dirty)
    }
}
