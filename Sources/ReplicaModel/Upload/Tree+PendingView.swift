internal import SystemPackage

extension Tree {
    /// The data that decides whether a node can be sent.
    /// - Parameter settle: How long an edit is debounced, in seconds.
    func pendingView(of node: Node, settle: Double) throws(ReplicaError) -> PendingView {
        let change = node.localChange
        let isMove = !node.dirty.isDisjoint(with: .place) || change == .created
        return PendingView(
            local: change,
            unknownParent: change == .deleted ? nil : unknownParent(of: node),
            movingAncestor: isMove && change != .deleted ? movingAncestor(of: node) : nil,
            occupant: isMove && change != .deleted ? try occupant(of: node) : nil,
            remainingChild: change == .deleted && node.kind == .folder ? pending.remainingItem(in: node.number) : nil,
            isBusy: node.isInFlight || (isWritten(node) && isFresh(node)),
            notBefore: earliestUpload(changedAt: node.changedAt, failure: node.failure, settle: settle),
            isUnanswered: node.isUnanswered,
            options: options(of: node), isDoubtful: node.isDoubtful && node.base != nil)
    }

    private func isFresh(_ node: Node) -> Bool { clock.now() - node.changedAt < openFileDebounceSeconds }

    private func options(of node: Node) -> CreateOptions {
        var options: CreateOptions = []
        if node.flags.contains(.mayAlreadyExist) { options.insert(.mayAlreadyExist) }
        if node.flags.contains(.deletionConflicted) { options.insert(.deletionConflicted) }
        return options
    }

    private func unknownParent(of node: Node) -> ItemNumber? {
        guard let parent = node.parent, parent.isNew, !isTrash(parent) else { return nil }
        return parent.number
    }

    private func movingAncestor(of node: Node) -> ItemNumber? {
        var here = node.parent
        while let folder = here {
            if !folder.dirty.isDisjoint(with: .place), folder.base != nil { return folder.number }
            here = folder.parent
        }
        return nil
    }

    /// The other item that has the node's place in the store, or may have it.
    private func occupant(of node: Node) throws(ReplicaError) -> ItemNumber? {
        guard let parent = node.parent else { return nil }
        if let other = unansweredItem(at: node.name, in: parent), other !== node { return other.number }
        let other = pending.departedItem(at: ItemPlace(folder: parent.number, name: node.name))
        return other === node ? nil : other?.number
    }
}

extension Node {
    /// Whether the store refuses to report the result of this item's call only.
    fileprivate var isRefusedAlone: Bool {
        let alone: [RemoteStoreError] = [.malformedAnswer(""), .itemUnavailable(""), .unanswered]
        return alone.contains { failure?.code == $0.code }
    }
}

extension Replica {
    /// Whether the result of an abandoned call is still unknown, and the store can be queried for it.
    var hasUnansweredCalls: Bool {
        withTree { tree in
            tree.pending.values.contains { node in
                // An item that is refused alone does not block the others; its place stays reserved.
                node.isUnanswered && !node.isRefusedAlone && (!node.isInFlight || node.isResolving)
                    && (node.failure == nil || node.failure?.retryAt != nil)
            }
        }
    }
}
