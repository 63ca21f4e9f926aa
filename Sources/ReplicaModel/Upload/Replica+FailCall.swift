internal import SystemPackage

/// The consequence of a store's error, besides the item's own failure.
enum FailureOutcome: Sendable, Hashable {
    case nothing
    /// Apply this state of an item: it explains the error.
    case apply(Item)
    /// Fetch the item's present state from the store and apply it.
    case ask(ItemIdentifier)
    /// The item is gone from the store.
    case deleted(ItemIdentifier)
    /// The error concerns the whole domain: nothing else is sent for a while.
    case holdBack
}

extension Replica {
    /// Records that a call failed (MODEL.md#errors).
    /// - Parameter backoff: Seconds until the item is retried, if retrying can help.
    func fail(_ outgoing: Outgoing, _ error: RemoteStoreError, backoff: (Int) -> Double) throws(ReplicaError)
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
            if error.refusal.isCertain { tree.forgetSent(outgoing, of: node) }
            tree.note(node)
            if outgoing.isInterim { tree.store.names.noteStuck(node) }
            switch error {
            case .noSuchItem(let missing):
                if outgoing.call == .resolve, missing == node.base?.identifier {
                    (node.sent, node.sentContent) = (nil, nil)  // Anything that arrived is gone with it.
                }
                tree.setFailure(of: node, code: error.code, error.message, retryAt: tree.clock.now() + backoff(1))
                return try tree.missing(missing, for: node, outgoing)
            case .versionConflict(let current):
                // Retried only after the store's state is applied.
                tree.setFailure(of: node, code: error.code, error.message, retryAt: tree.clock.now() + backoff(1))
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
                let attempts = (node.failure?.attempts ?? 0) + 1
                tree.setFailure(
                    of: node, code: error.code, error.message, retryAt: tree.clock.now() + backoff(attempts))
                return error.refusal.reach == .store ? .holdBack : .nothing
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

    /// Whether a reimported file without content collided with the store's file of the same name: both are the same
    /// file.
    private func isMatch(_ outgoing: Outgoing, _ other: Item) -> Bool {
        withTree { tree in
            guard let node = tree.items[outgoing.number], node.flags.contains(.reimport) else { return false }
            return outgoing.isCreate && node.kind == .file && node.materialization != .whole && other.kind == .file
                && outgoing.isSentToPlace(of: other)
        }
    }

    /// Whether a folder collided with an unknown folder of the store: if created on both sides, they become one folder.
    private func isSameFolder(_ outgoing: Outgoing, _ other: Item) throws(ReplicaError) -> Bool {
        guard outgoing.isCreate, outgoing.template.kind == .folder, other.kind == .folder,
            outgoing.isSentToPlace(of: other)
        else { return false }
        return try withTreeWaking { (tree) throws(ReplicaError) in try tree.find(other.identifier) == nil }
    }

    /// Whether a reimported item collided with its own original in the store with different content: one side was
    /// edited, and the item is sent as an edit then.
    private func collidesWithOriginal(_ outgoing: Outgoing, _ other: Item) -> Bool {
        guard outgoing.isCreate else { return false }
        return withTree { tree in
            guard let node = tree.items[outgoing.number], node.flags.contains(.reimport), !node.isDeleted,
                node.base?.identifier == other.identifier
            else { return false }
            tree.endFlight(node)
            node.flags.subtract([.createSent, .mayAlreadyExist, .reimport])
            (node.sent, node.sentContent) = (nil, nil)
            node.comparePlace()
            tree.note(node)
            return true
        }
    }

    /// Adopts the store's file of the same name for a new local file that the database did not record before a power
    /// cut. Both are compared then.
    private func adoptDoubtful(_ outgoing: Outgoing, _ other: Item) throws(ReplicaError) -> Bool {
        guard outgoing.isCreate, other.kind == .file, outgoing.isSentToPlace(of: other) else { return false }
        return try withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = tree.items[outgoing.number], node.flags.contains(.doubtful), !node.isDeleted,
                node.kind == .file, node.base == nil, try tree.find(other.identifier) == nil
            else { return false }
            tree.endFlight(node)
            node.flags.subtract(.untilCreated)
            (node.sent, node.sentContent) = (nil, nil)
            var base = Base(other, parent: outgoing.parent)
            base.version = ItemVersion(content: "", metadata: "")
            tree.setBase(base, of: node)
            node.dirty = []
            node.comparePlace()
            tree.note(node)
            return true
        }
    }

    /// Another item has the name: the item that is unknown to the store is renamed, unless the other one is about to
    /// move away.
    private func resolveCollision(
        _ outgoing: Outgoing, with other: Item?, backoff: (Int) -> Double
    ) throws(ReplicaError) -> FailureOutcome {
        let isStillThere = try withTreeWaking { (tree) throws(ReplicaError) -> Bool in
            guard let node = tree.items[outgoing.number] else { return false }
            tree.endFlight(node)
            node.flags.subtract([.createSent, .mayAlreadyExist])
            node.sentContent = nil
            if node.base != nil { node.sent = nil }
            tree.note(node)
            if let other, try tree.mayBeEqual(node, outgoing, other) {
                // Sent once more, for the store to compare both.
                node.flags.insert(.mayAlreadyExist)
                return false
            }
            if let other, let known = try tree.find(other.identifier), known.isLeaving(node.parent, node.name) {
                let error = RemoteStoreError.filenameCollision(other)
                tree.setFailure(of: node, code: error.code, error.message, retryAt: tree.clock.now() + 1)
                return false
            }
            let count = tree.store.names.noteCollision(of: node)
            if count > StoreNames.mostCollisions {
                let error = RemoteStoreError.filenameCollision(other)
                let retryAt = tree.clock.now() + backoff(count - StoreNames.mostCollisions)
                tree.setFailure(
                    of: node, code: error.code, "the store rejects every name as taken", retryAt: retryAt)
                return false
            }
            return !node.isDeleted && node.name == outgoing.template.filename
        }
        if isStillThere { try bounce(outgoing.number) }
        return other.map(FailureOutcome.apply) ?? .nothing
    }
}

extension Node {
    /// Whether the store still has to learn that the item left this place.
    fileprivate func isLeaving(_ folder: Node?, _ name: FileName) -> Bool {
        isPending && (isDeleted || parent !== folder || self.name != name)
    }
}

extension Tree {
    /// Whether a new file or symlink collided with one of the same size that is not known here: both sides may have
    /// created the same item, and the store was not asked to compare them.
    fileprivate func mayBeEqual(_ node: Node, _ outgoing: Outgoing, _ other: Item) throws(ReplicaError) -> Bool {
        guard case .create(let options) = outgoing.call, !options.contains(.mayAlreadyExist), !node.isDeleted,
            !node.isLocalOnly, other.kind == node.kind, outgoing.isSentToPlace(of: other)
        else { return false }
        switch node.kind {
        case .folder: return false
        case .file: guard other.size == outgoing.fingerprint.size else { return false }
        case .symlink: break
        }
        return try find(other.identifier) == nil
    }

    /// Records that a call did not arrive. The template keeps its identifier for the next attempt.
    fileprivate func forgetSent(_ outgoing: Outgoing, of node: Node) {
        guard outgoing.call != .resolve else { return }
        node.flags.remove(.createSent)
        node.sentContent = nil
        if node.base != nil { node.sent = nil }
    }

    /// Reverts the records of ``Replica/begin(_:settle:)`` for a call that was not made.
    func undoBegin(of outgoing: Outgoing, _ node: Node) {
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
        _ identifier: ItemIdentifier, for node: Node, _ outgoing: Outgoing
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
