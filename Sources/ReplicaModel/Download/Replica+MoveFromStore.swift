internal import SystemPackage

/// A rename that the engine makes.
struct LocalMove {
    var number: ItemNumber
    var from: PresentedItem
    var oldName: FileName
    var into: PresentedItem
    var newName: FileName
    /// Whether the kernel knows one of the folders.
    var isSeen: Bool
    /// ``Incoming/asked`` of the report that the item is moved for; nil if there is none.
    var asked: UInt64?

    var call: PresentedCall { .rename(oldName, in: from, to: newName, into: into) }
}

extension Replica {
    /// Moves an item to where the store has it.
    /// - Parameter asked: ``Incoming/asked``.
    /// - Throws: EBUSY if a call for the item is in progress or was answered since.
    func move(_ number: ItemNumber, to item: Item, in parent: ItemNumber, asked: UInt64) throws(ReplicaError) {
        let move = try withTreeWaking { (tree) throws(ReplicaError) -> LocalMove? in
            guard let node = tree.items[number], let from = node.parent, let into = try tree.find(parent) else {
                return nil
            }
            guard !tree.isOutdated(node, asked: asked) else { throw .errno(.resourceBusy) }
            try tree.children(of: into)
            let name = tree.nameHere(of: item, as: node, in: into)
            guard from !== into || node.name != name else { return nil }
            return LocalMove(
                number: number, from: tree.presented(from), oldName: node.name, into: tree.presented(into),
                newName: name, isSeen: from.lookups > 0 || into.lookups > 0, asked: asked)
        }
        guard let move else { return }
        try carryOut(move) { (tree, node, folder) throws(ReplicaError) in
            tree.setPlace(of: node, move.newName, folder)
            // What remains of the report may be deferred: this place is not a local change.
            node.base?.parent = folder.number
            node.base?.name = item.filename
            node.comparePlace()
            tree.refreshFingerprint(node)
            tree.note(node)
        }
    }

    /// Renames an item through the mount, to the place that `target` decides on under the lock.
    func rename(
        _ number: ItemNumber, to target: (Tree, Node) throws(ReplicaError) -> (folder: Node, name: FileName)
    ) throws(ReplicaError) {
        let move = try withTreeWaking { (tree) throws(ReplicaError) -> LocalMove? in
            guard let node = try tree.find(number), let parent = node.parent else { return nil }
            let (folder, name) = try target(tree, node)
            return LocalMove(
                number: number, from: tree.presented(parent), oldName: node.name, into: tree.presented(folder),
                newName: name,
                isSeen: parent.lookups > 0 || folder.lookups > 0)
        }
        guard let move else { return }
        try carryOut(move) { (tree, node, folder) throws(ReplicaError) in
            tree.noteMove(of: node, to: move.newName, in: folder)
        }
    }

    /// Makes the rename and then calls `note` to record it.
    func carryOut(
        _ move: LocalMove, note: @escaping (Tree, Node, Node) throws(ReplicaError) -> Void
    ) throws(ReplicaError) {
        try present(move.call, isSeen: move.isSeen) { (tree) throws(ReplicaError) in
            guard let node = tree.items[move.number], let from = node.parent, from.number == move.from.number,
                node.name == move.oldName, let into = tree.items[move.into.number]
            else { throw .errno(.noSuchFileOrDirectory) }
            if let asked = move.asked, tree.isOutdated(node, asked: asked) { throw .errno(.resourceBusy) }
            try tree.children(of: into)
            try tree.vacant(move.newName, in: into)
            try tree.renameBelow(move.oldName, from, move.newName, into, RenameFlags.noReplace.rawValue)
            try note(tree, node, into)
            return node
        }
        followTrash(move)
    }
}
