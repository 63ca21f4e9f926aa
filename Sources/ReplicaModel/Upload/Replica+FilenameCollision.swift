/// What follows if the store has another item at the place of one that was sent (MODEL.md#collisions).
extension Replica {
    /// Whether a reimported file without content collided with the store's file of the same name: both are the same
    /// file.
    func isMatch(_ outgoing: OutgoingCall, _ other: Item) -> Bool {
        withTree { tree in
            guard let node = tree.items[outgoing.number], node.flags.contains(.reimport) else { return false }
            return outgoing.isCreate && node.kind == .file && node.materialization != .whole && other.kind == .file
                && outgoing.isSentToPlace(of: other)
        }
    }

    /// Whether a folder collided with an unknown folder of the store: if created on both sides, they become one folder.
    func isSameFolder(_ outgoing: OutgoingCall, _ other: Item) throws(ReplicaError) -> Bool {
        guard outgoing.isCreate, outgoing.template.kind == .folder, other.kind == .folder,
            outgoing.isSentToPlace(of: other)
        else { return false }
        return try withTreeWaking { (tree) throws(ReplicaError) in try tree.find(other.identifier) == nil }
    }

    /// Whether a reimported item collided with its own original in the store with different content: one side was
    /// edited, and the item is sent as an edit then.
    func collidesWithOriginal(_ outgoing: OutgoingCall, _ other: Item) -> Bool {
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
    func adoptDoubtful(_ outgoing: OutgoingCall, _ other: Item) throws(ReplicaError) -> Bool {
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
    func resolveCollision(
        _ outgoing: OutgoingCall, with other: Item?, backoff: (Int) -> Double
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
    fileprivate func mayBeEqual(_ node: Node, _ outgoing: OutgoingCall, _ other: Item) throws(ReplicaError) -> Bool {
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
}
