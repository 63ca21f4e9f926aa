internal import SystemPackage

/// After a power cut a file may stand under the name of an item that is nowhere: somebody renamed it over that, or the tree is
/// older than the database.
extension Tree {
    /// Settles what became of an item that is missing, whose name another has.
    /// - Returns: Whether it is settled. Else the item is still missing; its name may be free by now.
    func settleRenamedOver(_ node: Node) -> Bool {
        guard node.kind != .folder, node.base != nil, let folder = node.parent,
            let other = folder.children?[node.name], other.kind != .folder
        else { return false }
        // What is known to have been on the disk is gone from there by a later change, and the tree is newer.
        guard scan.mode == .afterPowerCut, !node.flags.contains(.doubtful) else {
            moveBack(other)
            return false
        }
        makeTombstone(node)
        return true
    }

    /// Puts an item back to where the store has it, if nothing is there: nobody is known to have moved it.
    private func moveBack(_ node: Node) {
        guard let base = node.base, let from = node.parent, !node.dirty.isDisjoint(with: .place) else { return }
        let name = ownName(of: node, base)
        do throws(ReplicaError) {
            guard let into = try find(base.parent), into.kind == .folder, !into.isDeleted, !scan.isMissing(into),
                try child(name, of: into) == nil
            else { return }
            try renameBelow(node.name, from, name, into, RenameFlags.noReplace.rawValue)
            move(node, to: name, in: into)
        } catch {
            return  // It keeps the name, and the store's item gets another.
        }
    }
}
