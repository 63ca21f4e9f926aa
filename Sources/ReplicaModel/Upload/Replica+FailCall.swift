internal import SystemPackage

extension Replica {
    /// Records that a call failed (MODEL.md#errors).
    /// - Parameter backoff: Seconds until the item is retried, if retrying can help.
    func fail(_ outgoing: OutgoingCall, _ error: RemoteStoreError, backoff: (Int) -> Double) throws(ReplicaError)
        -> FailureOutcome
    {
        if case .filenameCollision(let other) = error {
            if let other, isMatch(outgoing, other) {
                return try finish(outgoing, StoreResult(item: other)) == nil ? .nothing : .apply(other)
            }
            if let other, try isSameFolder(outgoing, other) {
                var met = outgoing
                met.call = .create(.mayAlreadyExist)
                return try finish(met, StoreResult(item: other)) == nil ? .nothing : .apply(other)
            }
            if let other, collidesWithOriginal(outgoing, other) { return .apply(other) }
            if let other, try adoptDoubtful(outgoing, other) { return .apply(other) }
            return try resolveCollision(outgoing, with: other, backoff: backoff)
        }
        return try withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = tree.items[outgoing.number] else { return .nothing }
            tree.endFlight(node)
            if error.classification.isCertain { tree.forgetSent(outgoing, of: node) }
            tree.note(node)
            if outgoing.isInterim { tree.store.names.noteStuck(node) }
            // The store's newer state ends the wait when it is applied. Constant retries could keep it from that: a store over paths
            // compares no folder with calls in it.
            let retryAt = tree.clock.now() + backoff((node.failure?.attempts ?? 0) + 1)
            // What was found out only now is looked at soon, however often something else has failed before.
            let repeats = node.failure.map { $0.code == error.code ? $0.attempts : 0 } ?? 0
            let askAgainAt = tree.clock.now() + backoff(repeats + 1)
            switch error {
            case .noSuchItem(let missing):
                if outgoing.call == .resolve, missing == node.base?.identifier {
                    (node.sent, node.sentContent) = (nil, nil)  // Anything that arrived is gone with it.
                }
                tree.setFailure(of: node, code: error.code, error.message, retryAt: askAgainAt)
                return try tree.missing(missing, for: node, outgoing)
            case .versionConflict(let current):
                tree.setFailure(of: node, code: error.code, error.message, retryAt: askAgainAt)
                guard let base = node.base else { return .nothing }
                return current.map(FailureOutcome.apply) ?? .ask(base.identifier)
            case .deletionRejected(let current):
                guard let base = node.base else { return .nothing }
                if let current, try tree.deletesAgain(node, current) { return .nothing }
                try tree.giveUpDeletion(node)
                return current.map(FailureOutcome.apply) ?? .ask(base.identifier)
            case .directoryNotEmpty:
                guard let base = node.base else { return .nothing }
                try tree.giveUpDeletion(node)
                return .ask(base.identifier)
            case .excludedFromSync:
                node.flags.insert(node.base == nil || node.isDeleted ? .excluded : .leaving)
                tree.note(node)
                return .nothing
            case .cannotSynchronize(let why), .unsupported(let why):
                tree.setFailure(of: node, code: error.code, why, retryAt: nil)
                return .nothing
            default:
                tree.setFailure(of: node, code: error.code, error.message, retryAt: retryAt)
                return error.classification.reach == .store ? .holdBack : .nothing
            }
        }
    }

    /// Records that an item could not be read here, so that no call was made for it.
    /// - Returns: Whether this was not recorded yet.
    func noteUnreadable(_ number: ItemNumber, _ errno: Errno, retryAt: Double) -> Bool {
        withTree { tree in
            guard let node = tree.pending[number] else { return false }
            let why = errno == .stale ? "another file took its place in the backing tree" : "its file here: \(errno)"
            guard node.failure?.message != why else {
                node.failure?.retryAt = retryAt
                return false
            }
            tree.setFailure(of: node, code: RemoteStoreError.itemUnavailable(why).code, why, retryAt: retryAt)
            return true
        }
    }
}

extension Tree {
    /// Records that a call did not arrive. The template keeps its identifier for the next attempt.
    fileprivate func forgetSent(_ outgoing: OutgoingCall, of node: Node) {
        guard outgoing.call != .resolve else { return }
        node.flags.remove(.createSent)
        node.sentContent = nil
        if node.base != nil { node.sent = nil }
    }

    /// Reverts the records of ``Replica/begin(_:settle:)`` for a call that was not made.
    func undoBegin(of outgoing: OutgoingCall, _ node: Node) {
        guard outgoing.call != .resolve, isStillSent(node, outgoing) else { return }
        forgetSent(outgoing, of: node)
        if node.isDeleted, node.base == nil { drop(node) } else { note(node) }
    }

    /// Restores an item whose deletion the store rejected. Its folder is listed too, in case the request for the item
    /// fails.
    fileprivate func giveUpDeletion(_ node: Node) throws(ReplicaError) {
        guard let base = node.base else { return }
        drop(node)
        if let folder = try find(base.parent), !folder.isDeleted { askAgain(for: folder) }
    }

    /// Records why an item is not in sync.
    func setFailure(of node: Node, code: String, _ message: String, retryAt: Double?) {
        node.failure = Failure(
            code: code, message: message, attempts: (node.failure?.attempts ?? 0) + 1, retryAt: retryAt)
        note(node)
    }

    /// Handles an item that the store does not have: the item sent, or its destination folder.
    fileprivate func missing(
        _ identifier: ItemIdentifier, for node: Node, _ outgoing: OutgoingCall
    ) throws(ReplicaError) -> FailureOutcome {
        if node.isDeleted {
            // If only its folder is missing, the item may be at another place.
            if node.isNew || node.base?.identifier == identifier { drop(node) }
            return .nothing
        }
        if node.base?.identifier == identifier { return .deleted(identifier) }
        // The item was created again after it was sent.
        if outgoing.isOfKnownItem, outgoing.template.identifier == identifier { return .nothing }
        // The folder is created again first, then the item (statements 83 and 84).
        guard let folder = try find(identifier) ?? items[outgoing.parent], folder !== root else {
            setFailure(
                of: node, code: "noSuchItem", "the store does not have the root folder", retryAt: clock.now() + 60)
            return .nothing
        }
        guard folder.base?.identifier == identifier else { return .nothing }  // It was created again since.
        if folder.isDeleted { drop(folder) } else { convertToNewItem(folder) }
        return .nothing
    }
}
