internal import SystemPackage

/// Items that stay on this machine although the rest of the domain is replicated: those that the store answered with
/// excludedFromSync, everything in such a folder, and the folders of the trash.
extension Tree {
    /// Keeps an excluded item out of the store. If the store already has it, it is first fetched completely, with
    /// everything below it, and then deleted there (MODEL.md#errors, excludedFromSync).
    /// - Returns: The step to take instead of sending it; nil if it is not excluded.
    func withdraw(_ node: Node) throws(ReplicaError) -> UploadStep? {
        // The result of an unanswered call is queried first.
        guard !node.isDeleted, staysLocal(node), !node.isUnanswered else { return nil }
        guard node.base != nil else {
            keepLocal(node)
            return .wait(.nothing)
        }
        var absent: [ItemNumber] = []
        guard try collectDataless(node, into: &absent) else { return .wait(.busy) }
        guard absent.isEmpty else { return .fetch(absent) }
        try leaveStore(node)
        return .wait(.nothing)
    }

    private func staysLocal(_ node: Node) -> Bool {
        if node.flags.contains(.leaving) || isOfTrash(node) { return true }
        guard let parent = node.parent, parent.isLocalOnly else { return false }
        return node.base == nil || !isTrash(parent)
    }

    private func keepLocal(_ node: Node) {
        node.flags.remove(.leaving)
        node.flags.insert(.excluded)
        note(node)
    }

    /// The maximum number of items that are fetched before the tree is checked again.
    private static let atOnce = 256

    /// Collects the parts of an item, and of everything below it, that are not local.
    /// - Returns: False while a call for any of them is in flight.
    private func collectDataless(_ node: Node, into absent: inout [ItemNumber]) throws(ReplicaError) -> Bool {
        guard !node.isInFlight else { return false }
        if node.materialization != .whole { absent.append(node.number) }
        guard node.kind == .folder, node.materialization == .whole else { return true }
        for child in try sortedChildren(of: node) {
            guard absent.count < Self.atOnce else { break }
            guard try collectDataless(child, into: &absent) else { return false }
        }
        return true
    }

    /// Makes an item and everything below it local: tombstones delete them in the store, the contents of a folder
    /// before the folder.
    private func leaveStore(_ node: Node) throws(ReplicaError) {
        if node.base != nil {
            let tombstone = leaveTombstone(of: node)
            moveDepartures(from: node.number, to: tombstone.number)
            for child in try sortedChildren(of: node) where child.base?.parent == node.number {
                child.base?.parent = tombstone.number
            }
            node.dirty.formUnion(ItemFields.ofNew(node.kind))
            node.flags.subtract([.mayAlreadyExist, .deletionConflicted, .reimport, .needsListing])
            items.needsListing.remove(node.number)
            (node.sent, node.sentContent) = (nil, nil)
            clearFailure(node)
        }
        if !node.flags.contains(.createSent) { keepLocal(node) }
        for child in try sortedChildren(of: node) { try leaveStore(child) }
    }

    private func sortedChildren(of node: Node) throws(ReplicaError) -> [Node] {
        guard node.kind == .folder else { return [] }
        return try children(of: node).values.sorted { $0.number < $1.number }
    }

    /// Moves the records of items that left a folder here, but are still in it in the store, to the folder's tombstone,
    /// which is sent last.
    private func moveDepartures(from folder: ItemNumber, to tombstone: ItemNumber) {
        for other in pending.takeDeparted(from: folder) {
            if other.base?.parent == folder { other.base?.parent = tombstone }
            if other.sent?.parent == folder { other.sent?.parent = tombstone }
            note(other)
        }
    }
}
