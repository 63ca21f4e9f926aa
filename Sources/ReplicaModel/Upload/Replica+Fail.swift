internal import SystemPackage

/// The consequence of a store's error, beside the item's own failure.
enum FailureOutcome: Sendable, Hashable {
    case nothing
    /// This state of an item is to be applied: it explains the error.
    case apply(Item)
    /// The item's present state has to be fetched from the store and applied.
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
            if let other, meetItself(outgoing, other) { return .apply(other) }
            if let other, try meetDoubtful(outgoing, other) { return .apply(other) }
            return try collide(outgoing, with: other, backoff: backoff)
        }
        return try withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = tree.items[outgoing.number] else { return .nothing }
            tree.endFlight(node)
            if error.refusal.isCertain { tree.forgetSent(outgoing, of: node) }
            tree.note(node)
            if outgoing.isPassing { tree.storeNames.noteStuck(node) }
            switch error {
            case .noSuchItem(let missing):
                if outgoing.call == .resolve, missing == node.base?.identifier {
                    (node.sent, node.sentContent) = (nil, nil)  // Whatever arrived is gone with it.
                }
                tree.fail(node, code: error.code, error.message, retryAt: tree.now() + backoff(1))
                return try tree.missing(missing, for: node, outgoing)
            case .versionConflict(let current):
                // Not again before the store's state is applied.
                tree.fail(node, code: error.code, error.message, retryAt: tree.now() + backoff(1))
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
                tree.fail(node, code: error.code, why, retryAt: nil)
                return .nothing
            default:
                let attempts = (node.failure?.attempts ?? 0) + 1
                tree.fail(node, code: error.code, error.message, retryAt: tree.now() + backoff(attempts))
                return error.refusal.reach == .store ? .holdBack : .nothing
            }
        }
    }

    /// Whether a reimported file without its content met the store's file of its name: it is that one.
    private func isMatch(_ outgoing: Outgoing, _ other: Item) -> Bool {
        withTree { tree in
            guard let node = tree.items[outgoing.number], node.flags.contains(.reimport) else { return false }
            return outgoing.isCreate && node.kind == .file && node.materialization != .whole && other.kind == .file
                && outgoing.isSentToPlace(of: other)
        }
    }

    /// Whether a folder collided with an unknown folder of the store: created on both sides, they are one.
    private func isSameFolder(_ outgoing: Outgoing, _ other: Item) throws(ReplicaError) -> Bool {
        guard outgoing.isCreate, outgoing.template.kind == .folder, other.kind == .folder,
            outgoing.isSentToPlace(of: other)
        else { return false }
        return try withTreeWaking { (tree) throws(ReplicaError) in try tree.find(other.identifier) == nil }
    }

    /// Whether a reimported item met the one in the store that it was made from, with other content: it was edited on either side
    /// and is sent as an edit then.
    private func meetItself(_ outgoing: Outgoing, _ other: Item) -> Bool {
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

    /// Takes the store's file of a name for the one here that the database had no time to learn of before the power was cut:
    /// both are compared then.
    private func meetDoubtful(_ outgoing: Outgoing, _ other: Item) throws(ReplicaError) -> Bool {
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

    /// Another item has the name: the one that the store doesn't know yet is renamed, unless the other is about to move away.
    private func collide(
        _ outgoing: Outgoing, with other: Item?, backoff: (Int) -> Double
    ) throws(ReplicaError) -> FailureOutcome {
        let isStillThere = try withTreeWaking { (tree) throws(ReplicaError) -> Bool in
            guard let node = tree.items[outgoing.number] else { return false }
            tree.endFlight(node)
            node.flags.subtract([.createSent, .mayAlreadyExist])
            node.sentContent = nil
            if node.base != nil { node.sent = nil }
            tree.note(node)
            if let other, let known = try tree.find(other.identifier), known.isLeaving(node.parent, node.name) {
                let error = RemoteStoreError.filenameCollision(other)
                tree.fail(node, code: error.code, error.message, retryAt: tree.now() + 1)
                return false
            }
            let count = tree.storeNames.noteCollision(of: node)
            if count > StoreNames.mostCollisions {
                let error = RemoteStoreError.filenameCollision(other)
                let retryAt = tree.now() + backoff(count - StoreNames.mostCollisions)
                tree.fail(node, code: error.code, "the store says of every name that it is taken", retryAt: retryAt)
                return false
            }
            return !node.isDeleted && node.name == outgoing.template.filename
        }
        if isStillThere { try bounce(outgoing.number) }
        return other.map(FailureOutcome.apply) ?? .nothing
    }
}

extension Node {
    /// Whether the store has yet to be told that it is no longer at this place.
    fileprivate func isLeaving(_ folder: Node?, _ name: FileName) -> Bool {
        isPending && (isDeleted || parent !== folder || self.name != name)
    }
}

extension Tree {
    /// Notes that a call did not arrive. The template keeps its identifier for the next attempt.
    fileprivate func forgetSent(_ outgoing: Outgoing, of node: Node) {
        guard outgoing.call != .resolve else { return }
        node.flags.remove(.createSent)
        node.sentContent = nil
        if node.base != nil { node.sent = nil }
    }

    /// Takes back what ``Replica/begin(_:settle:)`` noted of a call that was not made.
    func takeBack(_ outgoing: Outgoing, of node: Node) {
        guard outgoing.call != .resolve, isStillSent(node, outgoing) else { return }
        forgetSent(outgoing, of: node)
        if node.isDeleted, node.base == nil { drop(node) } else { note(node) }
    }

    /// Brings back an item whose deletion the store rejected. Its folder is listed too, in case the request for the item
    /// fails.
    fileprivate func giveUpDeletion(_ node: Node) throws(ReplicaError) {
        guard let base = node.base else { return }
        drop(node)
        if let folder = try find(base.parent), !folder.isDeleted { askAgain(for: folder) }
    }

    /// Notes why an item is not in step.
    func fail(_ node: Node, code: String, _ message: String, retryAt: Double?) {
        node.failure = Failure(
            code: code, message: message, attempts: (node.failure?.attempts ?? 0) + 1, retryAt: retryAt)
        note(node)
    }

    /// The store has no item of this identifier: the item sent, or the folder it was to be in.
    fileprivate func missing(
        _ identifier: ItemIdentifier, for node: Node, _ outgoing: Outgoing
    ) throws(ReplicaError) -> FailureOutcome {
        if node.isDeleted {
            // If only its folder is missing, the item may be elsewhere.
            if node.isNew || node.base?.identifier == identifier { drop(node) }
            return .nothing
        }
        if node.base?.identifier == identifier { return .deleted(identifier) }
        // It was created again since it was sent.
        if outgoing.isOfKnownItem, outgoing.template.identifier == identifier { return .nothing }
        // First the folder is created again, then the item (statements 83 and 84).
        guard let folder = try find(identifier) ?? items[outgoing.parent], folder !== root else {
            fail(node, code: "noSuchItem", "the store does not have the root folder", retryAt: now() + 60)
            return .nothing
        }
        guard folder.base?.identifier == identifier else { return .nothing }  // It was made anew since.
        if folder.isDeleted { drop(folder) } else { makeAnew(folder) }
        return .nothing
    }
}
