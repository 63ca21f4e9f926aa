internal import SystemPackage

extension Replica {
    /// Recognises files that were written beside and renamed over in the store, by another program or by a call of ours
    /// whose answer was lost: what is gone and what is new at its place are one item with a new identifier. To delete
    /// the old identifier then does nothing, but for what was noted of it before.
    /// - Parameter arrivals: The files that were told of before, from the same question on; those of `changes` join them.
    func recognizeSuccessors(in changes: [Incoming], _ arrivals: inout Arrivals) throws(RemoteStoreError) {
        for case let item? in changes.lazy.map(\.item) where item.kind == .file {
            arrivals[StorePlace(parent: item.parent, name: item.filename)] = item.identifier
        }
        guard changes.contains(where: { $0.item == nil }) else { return }
        do throws(Obstacle) {
            try locked { (tree) throws(Obstacle) in
                for change in changes where change.item == nil {
                    try tree.succeed(change.identifier, by: arrivals)
                }
            }
        } catch {
            throw .cannotSynchronize("the tree cannot be read: \(error.errno)")
        }
    }
}

/// The files that the store told of, by their places.
typealias Arrivals = [StorePlace: ItemIdentifier]

/// A name in a folder of the store.
struct StorePlace: Hashable {
    var parent: ItemIdentifier
    var name: FileName
}

extension Tree {
    /// Gives the node of `identifier` the identifier of the new file at its place, if there is one.
    fileprivate func succeed(
        _ identifier: ItemIdentifier, by arrivals: Arrivals
    ) throws(Obstacle) {
        guard let node = try find(identifier), node.kind == .file, !node.isDeleted, var base = node.base,
            let successor = try successor(of: node, base, arrivals), try find(successor) == nil
        else { return }
        base.identifier = successor
        setBase(base, of: node)
    }

    /// The new file at the place where the store had the item, or where a call that was not answered was to put it.
    private func successor(
        of node: Node, _ base: Base, _ arrivals: Arrivals
    ) throws(Obstacle) -> ItemIdentifier? {
        if let folder = try find(base.parent)?.base?.identifier,
            let found = arrivals[StorePlace(parent: folder, name: base.name)]
        {
            return found
        }
        guard let sent = node.sentContent, let folder = try find(sent.parent)?.base?.identifier else { return nil }
        return arrivals[StorePlace(parent: folder, name: sent.name)]
    }
}
