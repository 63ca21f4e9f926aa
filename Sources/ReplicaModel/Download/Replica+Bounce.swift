internal import Foundation
internal import SystemPackage

extension Replica {
    /// Renames an item that is in the way: `stem 2.ext` (MODEL.md#collisions).
    func bounce(_ number: ItemNumber) throws(ReplicaError) {
        try rename(number) { (tree, node) throws(ReplicaError) in
            guard let folder = node.parent else { throw .errno(.noSuchFileOrDirectory) }
            let name = tree.storeNames.conflicts.free(besides: node.name) { tree.isTaken($0, in: folder) }
            return (folder, name)
        }
    }

    /// Moves an item back to the folder that the store has it in, or to the root if that is not possible, under a free name.
    func takeBack(_ number: ItemNumber) throws(ReplicaError) {
        try rename(number) { (tree, node) throws(ReplicaError) in
            var (folder, name) = (tree.root, node.name)
            if let base = node.base, let former = try tree.find(base.parent), former.kind == .folder,
                !former.isDeleted, !former.isInside(node)
            {
                (folder, name) = (former, tree.ownName(of: node, base))
            }
            try tree.children(of: folder)
            guard folder.children?[name] != nil else { return (folder, name) }
            return (folder, tree.storeNames.conflicts.free(besides: name) { tree.isTaken($0, in: folder) })
        }
    }

    /// Keeps the local content of a conflict under a name of its own, as a new item for the store (MODEL.md#conflicts).
    func makeConflictCopy(of number: ItemNumber) throws(ReplicaError) {
        let (host, day) = (Self.host, Self.day(clock.wall()))
        try rename(number) { (tree, node) throws(ReplicaError) in
            guard let folder = node.parent else { throw .errno(.noSuchFileOrDirectory) }
            let name = tree.storeNames.conflicts.conflict(of: node.name, host: host, day: day) {
                tree.isTaken($0, in: folder)
            }
            node.conflict = node.base.map { ConflictOrigin(original: $0.identifier, date: clock.wall()) }
            tree.setBase(nil, of: node)
            (node.sent, node.sentContent) = (nil, nil)
            node.flags.insert(.conflict)
            tree.edit(node, ItemFields.ofNew(node.kind))
            return (folder, name)
        }
        post(.conflict, number)
    }

    /// Renames an item through the mount, to the place that `target` decides on under the lock.
    private func rename(
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
        try carryOut(move) { (tree, node, folder) throws(ReplicaError) in tree.move(node, to: move.newName, in: folder)
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
            try tree.children(of: into)
            try tree.vacant(move.newName, in: into)
            try tree.renameBelow(move.oldName, from, move.newName, into, RenameFlags.noReplace.rawValue)
            try note(tree, node, into)
            return node
        }
        followTrash(move)
    }

    private static var host: String {
        String(ProcessInfo.processInfo.hostName.prefix { $0 != "." }.prefix(40))
    }

    private static func day(_ now: Double) -> String {
        Date(timeIntervalSince1970: now).formatted(.iso8601.year().month().day())
    }
}

extension Tree {
    /// Whether an entry of the folder has this name, or one that is the same to the store.
    fileprivate func isTaken(_ name: FileName, in folder: Node) -> Bool {
        if folder.children?[name] != nil { return true }
        guard !policy.isCaseSensitive else { return false }
        let folded = name.description.lowercased()
        return folder.children?.values.contains { $0.name.description.lowercased() == folded } ?? false
    }
}

/// A rename that the engine makes.
struct LocalMove {
    var number: ItemNumber
    var from: PresentedItem
    var oldName: FileName
    var into: PresentedItem
    var newName: FileName
    /// Whether the kernel knows one of the folders.
    var isSeen: Bool

    var call: PresentedCall { .rename(oldName, in: from, to: newName, into: into) }
}
