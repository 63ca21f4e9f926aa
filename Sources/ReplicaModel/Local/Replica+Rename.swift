internal import CLinux
internal import Glibc
internal import SystemPackage
internal import Threads

/// The flags of renameat2(2).
package struct RenameFlags: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let noReplace = RenameFlags(rawValue: 1)
    package static let exchange = RenameFlags(rawValue: 2)
}

extension Replica {
    /// rename(2) and renameat2(2). A file renamed over another becomes the newer state of the other's item, as programs
    /// intend that save by writing a temporary file and renaming it (MODEL.md#calls, "safe save").
    package func rename(
        _ name: FileName, in parent: some ItemReference, to newName: FileName, in newParent: some ItemReference,
        flags: RenameFlags
    ) throws(ReplicaError) {
        guard flags.isSubset(of: [.noReplace, .exchange]), flags != [.noReplace, .exchange] else {
            throw .errno(.invalidArgument)
        }
        let places = [ItemPlace(folder: parent.number, name: name), ItemPlace(folder: newParent.number, name: newName)]
        let presenter = self.presenter.withLock { $0 }
        let isHeard = events.isHeard
        let (isStale, paths) = try withTreeWaking { (tree) throws(ReplicaError) -> (Bool, [[FileName]]) in
            let from = try tree.listed(parent)
            let into = try tree.listed(newParent)
            let node = try tree.existing(name, in: from)
            guard newName.bytes.count <= 255 else { throw .errno(.fileNameTooLong) }
            try tree.demandRename(node, from: from, to: newName, in: into, flags: flags)
            let other = into.children?[newName]
            try tree.checkTrash(node, to: newName, in: into)
            if flags.contains(.exchange), let other { try tree.checkTrash(other, to: name, in: from) }
            if let other, other.kind == .folder, !flags.contains(.exchange) {
                guard other.materialization == .whole else { throw .needsListing(other.inodeNumber) }
                try tree.children(of: other)
            }
            if let other, other !== node, flags.isEmpty { try tree.keepReachable(other) }
            try tree.renameBelow(name, from, newName, into, flags.rawValue)
            guard node !== other else { return (false, []) }
            let former = isHeard ? tree.path(of: node) : []
            if flags.contains(.exchange), let other {
                tree.exchangeNames(node, other)
            } else if let other, node.inodeNumber == other.inodeNumber {
                // Two names of one file: rename(2) does nothing. The kernel may have seen two files, and moves one.
            } else {
                if let other { tree.replace(other, by: node) }
                tree.noteMove(of: node, to: newName, in: into)
            }
            let paths = isHeard ? [former, tree.path(of: into) + [newName]] : []
            return (presenter != nil && tree.presentations.spreadUnreported(places), paths)
        }
        if let from = paths.first, let to = paths.last {
            post(.localMove, from: from, to: to)
            if flags.contains(.exchange) { post(.localMove, from: to, to: from) }
        }
        // The kernel carries this out when its own rename has ended.
        if isStale, let presenter { tell(presenter, of: places) }
    }
}

extension Tree {
    /// Renames in the backing tree.
    func renameBelow(
        _ name: FileName, _ folder: Node, _ newName: FileName, _ newFolder: Node, _ flags: UInt32
    ) throws(ReplicaError) {
        let from = try descriptor(of: folder)
        let into = try descriptor(of: newFolder)
        try errnos { () throws(Errno) in
            try name.withCString { (old) throws(Errno) in
                try newName.withCString { (new) throws(Errno) in
                    try Errno.check(renameat2(from, old, into, new, flags))
                }
            }
        }
    }

    /// Notes that the user moved a node.
    func noteMove(of node: Node, to name: FileName, in folder: Node) {
        setPlace(of: node, name, folder)
        // Comparing with a database that doesn't know the item yet would find a new one, and the store's at the old place.
        if node.base != nil || node.flags.contains(.createSent) { unrecorded.noteUnobservable() }
        touch(node)
        clearFailure(node)
        // A store that rejected it at its old place may accept it here.
        node.flags.subtract([.excluded, .refused, .leaving])
        node.comparePlace()
        refreshFingerprint(node)
        pending.wake()
        note(node)
    }

    /// Moves a node to the place where its file already is.
    func setPlace(of node: Node, _ name: FileName, _ folder: Node) {
        if let old = node.parent, old.children?[node.name] === node { old.children?[node.name] = nil }
        node.parent = folder
        node.name = name
        folder.children?[name] = node
        wantBelow(node)
    }

    /// Renames a file, over another if there is one, in the backing tree and in memory.
    func replaceByRename(_ node: Node, _ from: Node, _ newName: FileName, _ into: Node) throws(ReplicaError) {
        try children(of: into)
        let other = into.children?[newName]
        if let other { try keepReachable(other) }
        do throws(ReplicaError) {
            // A file that was put there directly in the backing tree stays.
            let flags = other == nil ? RenameFlags.noReplace : []
            try renameBelow(node.name, from, newName, into, flags.rawValue)
        } catch {
            guard other == nil, error.errno == .invalidArgument else { throw error }
            try renameBelow(node.name, from, newName, into, 0)  // This filesystem knows no flags.
        }
        if let other { replace(other, by: node) }
        noteMove(of: node, to: newName, in: into)
    }

    fileprivate func exchangeNames(_ left: Node, _ right: Node) {
        guard let leftFolder = left.parent, let rightFolder = right.parent else { return }
        let leftName = left.name
        setPlace(of: left, right.name, rightFolder)
        right.parent = leftFolder
        right.name = leftName
        leftFolder.children?[leftName] = right
        for node in [left, right] { noteMove(of: node, to: node.name, in: node.parent ?? root) }
    }

    /// Handles `old`, whose file was renamed over: `new` takes over its item in the store if both are files; otherwise `old`
    /// is deleted as by unlink(2).
    fileprivate func replace(_ old: Node, by new: Node) {
        guard old.kind == .file, new.kind == .file, let heritage = old.base, !old.flags.contains(.excluded),
            new.materialization == .whole
        else { return makeTombstone(old) }
        unrecorded.noteUnobservable()
        setBase(nil, of: old)
        let unanswered = (old.sent, old.sentContent)
        if new.base != nil || new.flags.contains(.createSent) { leaveTombstone(of: new) }
        (new.sent, new.sentContent) = unanswered
        let synced = new.syncedSize
        setBase(heritage, of: new)
        new.syncedSize = synced
        if new.pin == .inherited { new.pin = old.pin }
        new.flags.formUnion(old.flags.intersection(.conflict))
        new.conflict = old.conflict ?? new.conflict
        new.flags.subtract([.createSent, .mayAlreadyExist, .deletionConflicted])
        new.dirty.formUnion(ItemFields.ofNew(new.kind).subtracting(.place))
        makeTombstone(old)
    }
}
