internal import SystemPackage

/// After a power cut, a file may have the name of an item that is missing: it was renamed over that item, or the tree
/// is older than the database.
extension Tree {
    /// Decides about a missing item whose name another item has.
    /// - Returns: Whether that settles it. Otherwise the item is still missing, and its name may be free now.
    func settleRenamedOver(_ node: Node) -> Bool {
        guard node.kind != .folder, node.base != nil, let folder = node.parent,
            let other = folder.children?[node.name], other.kind != .folder
        else { return false }
        // If the missing item is known to have been on the disk, a later change removed it, and the tree is newer.
        guard scan?.mode == .afterPowerCut, !node.flags.contains(.doubtful) else {
            moveBack(other)
            return false
        }
        makeTombstone(node)
        return true
    }

    /// Moves an item back to its place in the store, if that is free and the item is not known to have been moved.
    private func moveBack(_ node: Node) {
        guard let base = node.base, let from = node.parent, !node.dirty.isDisjoint(with: .place) else { return }
        let name = ownName(of: node, base)
        do throws(ReplicaError) {
            guard let into = try find(base.parent), into.kind == .folder, !into.isDeleted, !isMissing(into),
                try child(name, of: into) == nil
            else { return }
            try renameBelow(node.name, from, name, into, RenameFlags.noReplace.rawValue)
            noteMove(of: node, to: name, in: into)
        } catch {
            return  // It keeps the name, and the store's item gets another one.
        }
    }
}
