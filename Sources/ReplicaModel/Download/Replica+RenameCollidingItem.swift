internal import SystemPackage

/// Names that collide in the store, also because it does not distinguish their case.
extension Replica {
    /// Renames an item that is in the way: `stem 2.ext` (MODEL.md#collisions).
    func bounce(_ number: ItemNumber) throws(ReplicaError) {
        try rename(number) { (tree, node) throws(ReplicaError) in
            guard let folder = node.parent else { throw .errno(.noSuchFileOrDirectory) }
            let name = tree.store.names.conflicts.free(besides: node.name) { tree.isTaken($0, in: folder) }
            return (folder, name)
        }
    }

    /// Moves an item back to the folder that the store has it in, or to the root if that is not possible, under a free name.
    func undoMove(_ number: ItemNumber) throws(ReplicaError) {
        try rename(number) { (tree, node) throws(ReplicaError) in
            var (folder, name) = (tree.root, node.name)
            if let base = node.base, let former = try tree.find(base.parent), former.kind == .folder,
                !former.isDeleted, !former.isInside(node)
            {
                (folder, name) = (former, tree.ownName(of: node, base))
            }
            try tree.children(of: folder)
            guard folder.children?[name] != nil else { return (folder, name) }
            return (folder, tree.store.names.conflicts.free(besides: name) { tree.isTaken($0, in: folder) })
        }
    }
}

extension Tree {
    /// Whether an entry of the folder has this name, or one that the store considers equal.
    func isTaken(_ name: FileName, in folder: Node) -> Bool {
        if folder.children?[name] != nil { return true }
        guard !store.isCaseSensitive else { return false }
        let folded = name.description.lowercased()
        return folder.children?.values.contains { $0.name.description.lowercased() == folded } ?? false
    }
}
