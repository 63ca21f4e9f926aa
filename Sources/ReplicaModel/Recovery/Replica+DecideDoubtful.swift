internal import CLinux
internal import Glibc
internal import SystemPackage

extension Tree {
    /// What has to happen before the store's state of an item in doubt can be applied; nil if the doubt has ended.
    func decideDoubtful(_ node: Node, _ item: Item, _ staged: StagedContent?) -> ApplyDecision? {
        settle(node)
        // Content that was edited since is an edit, and content that is not here can't be lost.
        let isEdited = !node.flags.contains(.doubtful) && node.dirty.contains(.contents)
        guard node.kind == .file, node.materialization == .whole, !isWritten(node), !isEdited else {
            endDoubt(node)
            return nil
        }
        // Nobody is served the file until the store's content is in its place.
        if let staged, staged.isPreferred { return nil }
        if staged == nil, item.size > 0 { return .finished(.needsContent(node.number)) }
        return .compare(node.number)
    }

    /// Ends the doubt: the item is served and uploaded again.
    func endDoubt(_ node: Node) {
        node.flags.subtract(.inDoubt)
        pending.tell(node)
        note(node)
    }

    /// Whether the file has another name that the store doesn't know.
    fileprivate func hasUnsentName(besides node: Node) -> Bool {
        items.names(of: node).contains { $0 !== node && $0.base == nil && !$0.isDeleted && !$0.isLocalOnly }
    }

    /// Throws if the file's content is in doubt and must not be served.
    func demandCertainty(of node: Node) throws(ReplicaError) {
        if node.isDoubtful { throw .needsContent(node.inodeNumber) }
    }
}

extension Replica {
    /// Compares a file in doubt with the store's content, and carries out what follows from that.
    /// - Parameters:
    ///   - asked: ``Incoming/asked``.
    ///   - staged: The store's content; nil if it is empty.
    /// - Returns: Nil if it can't be decided now; otherwise the plan, after which the store's state of the item is
    ///   applied.
    func settleDoubt(
        _ number: ItemNumber, _ item: Item, asked: UInt64, _ staged: StagedContent?
    ) throws(ReplicaError) -> PlanAfterPowerCut? {
        guard staged == nil || staged?.version == item.version.content, let compared = try compare(number, staged)
        else { return nil }
        let plan = try withTreeWaking { (tree) throws(ReplicaError) -> PlanAfterPowerCut? in
            guard let node = tree.items[number], var base = node.base, !tree.isWritten(node) else { return nil }
            tree.settle(node)
            guard node.fingerprint == compared.fingerprint else { return nil }
            var plan = planAfterPowerCut(
                ComparedFile(
                    comparison: compared.comparison?.result ?? .ofSizes(node.fingerprint.size, item.size),
                    isDoubtful: node.flags.contains(.doubtful), isEdited: node.dirty.contains(.contents),
                    hasGapHere: compared.comparison?.hasGap.first ?? false,
                    hasGapInStore: compared.comparison?.hasGap.second ?? false,
                    isKnownInStore: base.version.content == item.version.content))
            // The copy will be uploaded under the other name.
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
        if plan == .keepBoth { try makeConflictCopy(of: number, asked: asked) }
        return plan
    }

    /// - Returns: Nil if there is nothing left to compare; without a comparison if one of the two is empty.
    private func compare(
        _ number: ItemNumber, _ staged: StagedContent?
    ) throws(ReplicaError) -> (fingerprint: FileFingerprint, comparison: ByteComparison?)? {
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
            return try ByteComparison(file, other)
        }
        return (fingerprint, comparison)
    }

    /// The doubt about a file; nil if there is none.
    /// - Parameter number: The number that programs see.
    func doubt(of number: ItemNumber) -> Doubt? {
        withTree { tree in
            guard let node = tree.items[inode: number], node.isDoubtful else { return nil }
            return Doubt(identifier: node.base?.identifier, mayBeInStore: !node.isNew || node.isUnanswered)
        }
    }

    /// Serves a file as it is although the store may not have it.
    func trust(_ number: ItemNumber) {
        withTree { tree in
            guard let node = tree.items[inode: number], node.isDoubtful else { return }
            tree.endDoubt(node)
        }
    }
}

/// What is known about a file whose content is in doubt.
struct Doubt {
    /// Its identifier in the store, if known.
    var identifier: ItemIdentifier?
    /// Whether the store may know the file.
    var mayBeInStore: Bool
}

extension ContentComparison {
    /// Compares two contents of which one is empty.
    fileprivate static func ofSizes(_ here: Int64, _ inStore: Int64) -> ContentComparison {
        here == inStore ? .same : here < inStore ? .less : .more
    }
}
