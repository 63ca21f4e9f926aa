internal import CLinux
internal import Glibc
internal import SystemPackage
internal import Threads

extension Replica {
    /// Applies a deletion in the store to the tree. Items that were edited here stay and are uploaded again
    /// (MODEL.md#conflicts).
    /// - Parameters:
    ///   - setsAside: Whether removed files are set aside, so that ``restoreDeleted(_:in:)`` can restore them.
    ///   - keepsNewer: ``TreeRemoval/keepsNewer``.
    func applyDeletion(
        of identifier: ItemIdentifier, asked: UInt64 = .max, setsAside: Bool = false, keepsNewer: Bool = true
    ) throws(ReplicaError) -> Applied {
        var isStale = false
        let (number, plan) = try withTreeWaking { (tree) throws(ReplicaError) -> (ItemNumber?, Reconciliation) in
            let none = Reconciliation(down: .nothing, up: .nothing)
            guard identifier != .root, let node = try tree.find(identifier) else { return (nil, none) }
            if node.isInFlight { return (node.number, Reconciliation(down: .meet, up: .nothing)) }
            if tree.store.answers.isStale(identifier, asked: asked) {
                isStale = true
                return (nil, none)
            }
            if node.isDeleted {
                tree.drop(node)
                return (nil, none)
            }
            // Its identifier is no longer valid.
            if node.flags.contains(.reimport) { return (nil, none) }
            tree.settle(node)
            let holds = node.materialization == .whole && node.kind != .folder
            if tree.mayBeLost(node) { return (node.number, Reconciliation(down: .nothing, up: .create([]))) }
            return (node.number, reconcile(local: node.changeToKeep, remote: .deleted, holdsContent: holds))
        }
        guard let number else { return isStale ? .stale : .done }
        switch plan.down {
        case .meet: return .deferred
        case .delete:
            let path = events.isHeard ? withTree { tree in tree.items[number].map(tree.path(of:)) } : nil
            let removal = TreeRemoval(
                top: number, isGone: true, setsAside: setsAside, keepsNewer: keepsNewer, asked: asked)
            if try removeTree(number, removal) { post(.remoteDeletion, path: path) }
        default: withTree { tree in tree.items[number].map(tree.convertToNewItem) }
        }
        return .done
    }

    /// Removes a node and everything below it from the tree, except for items that the store does not have, and their
    /// folders.
    /// - Parameter folder: The folder that is removed with what is in it; nil for the top item.
    /// - Returns: Whether all of it is gone, or at another place by now.
    func removeTree(
        _ number: ItemNumber, _ removal: TreeRemoval, in folder: ItemNumber? = nil
    ) throws(ReplicaError) -> Bool {
        let isBelow = folder != nil
        let found = try withTreeWaking { (tree) throws(ReplicaError) -> ([ItemNumber], Bool)? in
            guard let node = tree.items[number] else { return ([], false) }
            // A program has moved it out of the folder.
            if isBelow, node.parent?.number != folder { return nil }
            guard tree.isStillMeant(removal) else { return ([], true) }
            tree.settle(node)
            guard node.kind == .folder else {
                return ([], node.isInFlight || !tree.mayGo(node, isBelow: isBelow))
            }
            // An item that was moved here is at another place in the store, with everything in it.
            if isBelow, node.base != nil, !node.dirty.isDisjoint(with: .place) { return ([], true) }
            guard node.materialization == .whole else { return ([], false) }
            return (try tree.children(of: node).values.map(\.number).sorted(), node.isNew || tree.mayBeLost(node))
        }
        guard let (children, isKept) = found else { return true }
        var isEmptied = true
        for child in children where try !removeTree(child, removal, in: number) { isEmptied = false }
        guard isEmptied, !isKept else {
            withTree { tree in
                guard let node = tree.items[number], !isBelow || node.dirty.isDisjoint(with: .place) else { return }
                tree.keepItem(node, isGone: removal.isGone)
            }
            return false
        }
        do throws(ReplicaError) {
            try removeOne(number, removal, in: folder)
            return true
        } catch {
            guard [.resourceBusy, .directoryNotEmpty].contains(error.errno) else { throw error }
            withTree { tree in tree.items[number].map { tree.keepItem($0, isGone: removal.isGone) } }
            return false
        }
    }

    private func removeOne(
        _ number: ItemNumber, _ removal: TreeRemoval, in above: ItemNumber?
    ) throws(ReplicaError) {
        let info = trashInfo(of: number)
        let folders = self.folders
        try removeFromTree(number) { (tree, node) throws(ReplicaError) in
            let isThere = above == nil || node.parent?.number == above
            guard isThere, tree.isStillMeant(removal) else { throw .errno(.resourceBusy) }
            // Detects writes that bypassed the mount.
            if node.kind == .file, node.materialization == .whole { _ = try tree.entry(of: node) }
            let mayGo = node.kind == .folder ? !node.isNew : tree.mayGo(node, isBelow: false)
            guard mayGo else { throw .errno(.resourceBusy) }
            if node.kind == .folder, node.materialization != .whole { try tree.clearUnlisted(node) }
            if removal.setsAside {
                try tree.setAside(node, folders)
            } else {
                try tree.removeMeant(node, folders, keepsNewer: removal.keepsNewer)
            }
            tree.setBase(nil, of: node)
            node.flags.remove(.createSent)
            tree.makeTombstone(node)
        }
        info.map(removeTrashInfo)
    }
}

/// Why an item is removed from the tree, with everything in it.
struct TreeRemoval {
    var top: ItemNumber
    /// Whether the store no longer has it, so that what stays is new to the store. Otherwise it is at a place that was
    /// not listed yet.
    var isGone: Bool
    /// Whether removed files are set aside, so that ``restoreDeleted(_:in:)`` can restore them.
    var setsAside = false
    /// Whether files that are newer than a backup of the store go to `kept/`.
    var keepsNewer = false
    /// ``Incoming/asked``.
    var asked: UInt64 = .max
}

extension Tree {
    /// False if a program has moved the top item, which the store still has, or a call about it began or was answered: it may be
    /// at a listed place by now.
    fileprivate func isStillMeant(_ removal: TreeRemoval) -> Bool {
        guard !removal.isGone, let top = items[removal.top] else { return true }
        return !isOutdated(top, asked: removal.asked) && top.dirty.isDisjoint(with: .place)
    }

    /// Whether a file or symlink contains nothing that the store does not have or had.
    /// - Parameter isBelow: Whether it is removed with a folder: items moved into that folder are at another place in
    ///   the store.
    fileprivate func mayGo(_ node: Node, isBelow: Bool) -> Bool {
        guard node.base != nil, !isWritten(node), !mayBeLost(node) else { return false }
        if isBelow, !node.dirty.isDisjoint(with: .place) { return false }
        return node.dirty.isEmpty || node.materialization != .whole
    }

    /// Whether a power cut may have removed the local content from the store.
    fileprivate func mayBeLost(_ node: Node) -> Bool {
        !node.flags.isDisjoint(with: .inDoubt) && node.materialization == .whole
    }

    /// Keeps an item that could not be removed: it becomes a new item if the store no longer has it; otherwise a folder
    /// is listed again.
    fileprivate func keepItem(_ node: Node, isGone: Bool) {
        if isGone {
            convertToNewItem(node)
        } else if node.kind == .folder, !node.isNew, !node.isDeleted {
            askAgain(for: node)
        }
    }

    /// Turns an item that the store no longer has into a new one.
    func convertToNewItem(_ node: Node) {
        guard node.base != nil, node !== root, !node.isDeleted else { return }
        setBase(nil, of: node)
        (node.sent, node.sentContent) = (nil, nil)
        node.flags.subtract(.inDoubt)
        node.flags.insert(.deletionConflicted)
        edit(node, ItemFields.ofNew(node.kind))
    }

    /// Removes placeholders that were left in a folder by an unfinished listing, or by an unfinished removal of the
    /// listing.
    func clearUnlisted(_ folder: Node) throws(ReplicaError) {
        let below = try descriptor(of: folder)
        try errnos { () throws(Errno) in try clearPlaceholders(in: below, mark) }
    }
}

/// Removes the placeholders in an open folder and in those below it: dataless and empty files, symlinks, and folders
/// that are then empty. Files with content stay.
private func clearPlaceholders(in folder: Int32, _ mark: DatalessMark) throws(Errno) {
    try OwnerPermissions.with(OwnerPermissions.toChangeEntries, of: folder) { () throws(Errno) in
        try clear(folder, mark)
    }
}

private func clear(_ folder: Int32, _ mark: DatalessMark) throws(Errno) {
    for line in try BackingFolderListing(of: folder, mark: mark).lines {
        if line.status.kind == .folder {
            if line.status.isMountPoint { continue }
            let inner = try line.name.openFolder(in: folder)
            defer { close(inner) }
            try clearPlaceholders(in: inner, mark)
            _ = line.name.withCString { unlinkat(folder, $0, AT_REMOVEDIR) }
        } else if line.status.kind != .file || line.isDataless || line.status.size == 0 {
            _ = line.name.withCString { unlinkat(folder, $0, 0) }
        }
    }
}
