internal import SystemPackage

/// After a power cut, another item may have the name of a missing one, because it was renamed over it, or because the
/// tree is older than the database. Or the missing item's file has another name, which was made before its own was
/// removed.
extension Tree {
    /// Gives a missing item the name that its file still has, and compares the file with the item's record.
    /// - Parameter other: That name, which the store doesn't know.
    /// - Returns: Whether the item is there now.
    func takeAfterPowerCut(_ other: Node, as node: Node) -> Bool {
        let known = (node.fingerprint, node.materialization, node.ranges)
        do throws(ReplicaError) {
            guard let folder = other.parent else { return false }
            let place = try place(of: other)
            let line = try errnos { [mark] () throws(Errno) in try FolderListing.Line(at: place, mark: mark) }
            take(other, as: node)
            (node.fingerprint, node.materialization, node.ranges) = known
            node.fingerprint = findAfterPowerCut(node, line, in: folder)
            note(node)
            return true
        } catch {
            return false  // Its file stays a new one.
        }
    }

    /// Decides about a missing item whose name another item has.
    /// - Returns: Whether that settles it. Otherwise the item is still missing, and its name may be free now.
    func settleRenamedOver(_ node: Node) -> Bool {
        guard node.kind != .folder, node.base != nil, let folder = node.parent,
            let other = folder.children?[node.name], other.kind != .folder
        else { return false }
        // If the missing item is known to have been on the disk, a later change removed it, and the tree is newer.
        guard scan.mode == .afterPowerCut, !node.flags.contains(.doubtful) else {
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
            guard let into = try find(base.parent), into.kind == .folder, !into.isDeleted, !scan.isMissing(into),
                try child(name, of: into) == nil
            else { return }
            try renameBelow(node.name, from, name, into, RenameFlags.noReplace.rawValue)
            move(node, to: name, in: into)
        } catch {
            return  // It keeps the name, and the store's item gets another one.
        }
    }
}
