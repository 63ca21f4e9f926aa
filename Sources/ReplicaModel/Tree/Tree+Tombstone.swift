extension Tree {
    /// Notes that a node is gone from the tree. It leaves a tombstone until the store knows, unless the store never had it.
    func makeTombstone(_ node: Node) {
        unlink(node)
        if node.kind == .folder, node.lookups == 0 { closeDescriptor(of: node) }
        guard node.base != nil || node.flags.contains(.createSent), !node.flags.contains(.excluded) else {
            return drop(node)
        }
        unrecorded.noteUnobservable()
        node.flags.insert(.deleted)
        node.flags.remove(.writing)
        node.dirty = []
        clearFailure(node)
        items.needsListing.remove(node.number)
        touch(node)
        (items.writing[node.number], node.mayBeMapped) = (nil, false)
        pending.wake()
        note(node)
    }

    /// Makes a tombstone for a node's item in the store, so that the node can become another item.
    @discardableResult
    func leaveTombstone(of node: Node) -> Node {
        let tombstone = Node(number: items.numbers.take(), parent: nil, name: node.name, kind: node.kind)
        tombstone.flags = node.flags.intersection(.createSent).union(.deleted)
        (tombstone.sent, tombstone.sentContent) = (node.sent, node.sentContent)
        let base = node.base
        setBase(nil, of: node)
        insert(tombstone)
        setBase(base, of: tombstone)
        tombstone.changedAt = clock.now()
        return tombstone
    }
}
