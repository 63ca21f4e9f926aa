internal import CLinux
internal import Glibc
internal import SystemPackage

extension Tree {
    /// What the store's state of an item that was in doubt after a power cut is to be done with first; nil when the doubt is
    /// over.
    func decideDoubtful(_ node: Node, _ item: Item, _ staged: StagedContent?) -> ApplyDecision? {
        settle(node)
        // What was edited since is an edit, and what is not here has nothing to lose.
        let isEdited = !node.flags.contains(.doubtful) && node.dirty.contains(.contents)
        guard node.kind == .file, node.materialization == .whole, !isWritten(node), !isEdited else {
            endDoubt(node)
            return nil
        }
        // Until the store's content is in its place nobody gets it.
        if let staged, staged.isPreferred { return nil }
        if staged == nil, item.size > 0 { return .finished(.needsContent(node.number)) }
        return .compare(node.number)
    }

    /// Ends the doubt: the item is served and sent again.
    func endDoubt(_ node: Node) {
        node.flags.subtract(.inDoubt)
        pending.tell(node)
        note(node)
    }

    /// Whether a file has another name of which the store knows nothing.
    fileprivate func hasUnsentName(besides node: Node) -> Bool {
        items.names(of: node).contains { $0 !== node && $0.base == nil && !$0.isDeleted && !$0.isLocalOnly }
    }

    /// Makes sure that programs get a file as it is.
    func demandCertainty(of node: Node) throws(ReplicaError) {
        if node.isDoubtful { throw .needsContent(node.inodeNumber) }
    }
}

extension Replica {
    /// Compares a file that is in doubt with what the store has now, and does what follows.
    /// - Parameter staged: The store's content; nil where it has none.
    /// - Returns: Nil when it cannot be told now; else the store's state of the item is to be applied.
    func settleDoubt(
        _ number: ItemNumber, _ item: Item, _ staged: StagedContent?
    ) throws(ReplicaError) -> PlanAfterPowerCut? {
        guard staged == nil || staged?.version == item.version.content, let compared = try compare(number, staged)
        else { return nil }
        let plan = try withTreeWaking { (tree) throws(ReplicaError) -> PlanAfterPowerCut? in
            guard let node = tree.items[number], var base = node.base, !tree.isWritten(node) else { return nil }
            tree.settle(node)
            guard node.fingerprint == compared.fingerprint else { return nil }
            var plan = planAfterPowerCut(
                ComparedFile(
                    likeness: compared.comparison?.likeness ?? .ofSizes(node.fingerprint.size, item.size),
                    isDoubtful: node.flags.contains(.doubtful), isEdited: node.dirty.contains(.contents),
                    hasGapHere: compared.comparison?.hasGap.first ?? false,
                    hasGapInStore: compared.comparison?.hasGap.second ?? false,
                    isKnownInStore: base.version.content == item.version.content))
            // The other name is sent with it.
            if plan == .keepBoth, tree.hasUnsentName(besides: node) { plan = .takeTheirs }
            switch plan {
            case .inStep, .send:
                (base.version.content, base.size) = (item.version.content, item.size)
                node.dirty.remove(.contents)
            case .takeTheirs:
                base.version.content = ""
                node.dirty.remove(.contents)
            case .keepBoth: break
            }
            tree.setBase(base, of: node)
            if plan == .send { tree.edit(node, [.contents, .modificationDate]) }
            if plan != .takeTheirs { tree.endDoubt(node) }
            return plan
        }
        if plan == .keepBoth { try makeConflictCopy(of: number) }
        return plan
    }

    /// - Returns: Nil when there is nothing to compare by now; a comparison when both have bytes.
    private func compare(
        _ number: ItemNumber, _ staged: StagedContent?
    ) throws(ReplicaError) -> (fingerprint: FileFingerprint, comparison: Comparison?)? {
        let opened = try withTreeWaking { (tree) throws(ReplicaError) -> (Int32, FileFingerprint)? in
            guard let node = tree.items[number], node.materialization == .whole, !node.isDeleted else { return nil }
            let place = try tree.place(of: node)
            return (try errnos { () throws(Errno) in try place.open(O_RDONLY | CL_O_NOATIME) }, node.fingerprint)
        }
        guard let (file, fingerprint) = opened else { return nil }
        defer { Glibc.close(file) }
        guard let staged else { return (fingerprint, nil) }
        let comparison = try errnos { () throws(Errno) in
            let other = try Errno.check(staged.path.withPlatformString { Glibc.open($0, O_RDONLY | O_CLOEXEC) })
            defer { Glibc.close(other) }
            return try Comparison(file, other)
        }
        return (fingerprint, comparison)
    }

    /// A file that is in doubt; nil when it is not.
    /// - Parameter number: As programs see it.
    func doubt(of number: ItemNumber) -> Doubt? {
        withTree { tree in
            guard let node = tree.items[inode: number], node.isDoubtful else { return nil }
            return Doubt(identifier: node.base?.identifier, mayBeInStore: !node.isNew || node.isUnanswered)
        }
    }

    /// Serves a file as it is that the store is not known to have.
    func trust(_ number: ItemNumber) {
        withTree { tree in
            guard let node = tree.items[inode: number], node.isDoubtful else { return }
            tree.endDoubt(node)
        }
    }
}

/// What is known of a file whose content is in doubt.
struct Doubt {
    /// What the store calls it, if that is known.
    var identifier: ItemIdentifier?
    /// Whether the store was ever told of it, as far as is known.
    var mayBeInStore: Bool
}

extension Likeness {
    /// How two contents compare of which one has nothing.
    fileprivate static func ofSizes(_ here: Int64, _ inStore: Int64) -> Likeness {
        here == inStore ? .same : here < inStore ? .less : .more
    }
}
