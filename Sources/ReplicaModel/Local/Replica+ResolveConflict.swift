internal import Glibc
internal import SystemPackage

extension Replica {
    /// Makes a conflict copy an ordinary file.
    func settleConflict(_ number: ItemNumber) {
        withTree { tree in tree.items[number].map(tree.endConflict) }
    }

    /// Deletes a file, like a user would.
    func remove(_ number: ItemNumber) throws(ReplicaError) {
        try removeFromTree(number) { (tree, node) throws(ReplicaError) in
            try tree.removeBelow(node)
            tree.makeTombstone(node)
        }
    }

    /// Renames a conflict copy over its original, whose newer content it becomes. If the original is gone, the copy
    /// keeps its name.
    func keepConflict(_ number: ItemNumber) throws(ReplicaError) {
        let move = try withTreeWaking { (tree) throws(ReplicaError) -> LocalMove? in
            guard let node = try tree.find(number), let parent = node.parent else { return nil }
            guard let origin = node.conflict, let original = try tree.find(origin.original), !original.isDeleted,
                let folder = original.parent, original !== node
            else {
                tree.endConflict(node)
                return nil
            }
            return LocalMove(
                number: number, from: tree.presented(parent), oldName: node.name, into: tree.presented(folder),
                newName: original.name,
                isSeen: parent.lookups > 0 || folder.lookups > 0)
        }
        guard let move else { return }
        try present(move.call, isSeen: move.isSeen) { (tree) throws(ReplicaError) in
            guard let node = tree.items[number], let from = node.parent, from.number == move.from.number,
                node.name == move.oldName, let into = tree.items[move.into.number]
            else { throw .errno(.noSuchFileOrDirectory) }
            tree.settle(node)
            try tree.replaceByRename(node, from, move.newName, into)
            tree.endConflict(node)
            return node
        }
    }
}

extension Tree {
    func endConflict(_ node: Node) {
        node.flags.remove(.conflict)
        node.conflict = nil
        note(node)
    }
}
