internal import CLinux
internal import GRDB
internal import Glibc
internal import SystemPackage
internal import Threads

extension Replica {
    /// Moves the files that were set aside back to their places in the tree, and notes their deletions again. Files
    /// that the store has again are dropped; if a file's folder was removed here, the file is moved to `kept/`.
    /// - Returns: How many items are still set aside because they can't be moved back.
    func restoreAllDeleted() throws -> Int {
        try record()
        let rows = try database.read { try SetAsideRows.all(in: $0) }
        /// The new numbers of folders whose old ones are in use.
        var renumbered: [UInt64: ItemNumber] = [:]
        var left = 0
        for start in stride(from: 0, to: rows.count, by: Self.atOnce) {
            var done: [(row: ItemRow, isGiven: Bool)] = []
            for row in rows[start..<min(start + Self.atOnce, rows.count)] {
                do throws(ReplicaError) {
                    let number = try restoreDeleted(row, in: renumbered[row.parent] ?? ItemNumber(row.parent))
                    if let number, number.rawValue != row.number { renumbered[row.number] = number }
                    done.append((row, number != nil))
                } catch {
                    left += 1
                }
            }
            try noteRestored(done)
        }
        return left
    }

    /// How many are restored before they are recorded.
    private static let atOnce = 256

    private func noteRestored(_ done: [(row: ItemRow, isGiven: Bool)]) throws {
        let asked = answers
        let deletions = done.filter(\.isGiven).compactMap { $0.row.base?.identifier }
            .map { Incoming(identifier: $0, item: nil, asked: asked) }
        try record { rows in
            try Incoming.write(deletions, anchor: nil, to: rows)
            for (row, _) in done { try SetAsideRows.remove(ItemNumber(row.number), from: rows) }
        }
    }

    /// - Parameter parent: The folder that it was in.
    /// - Returns: The item's number; nil if it was not restored.
    private func restoreDeleted(_ row: ItemRow, in parent: ItemNumber) throws(ReplicaError) -> ItemNumber? {
        let folders = self.folders
        let target = try withTreeWaking { (tree) throws(ReplicaError) -> (PresentedItem, ItemNumber, FileName, Bool)? in
            guard try !tree.isInStoreAgain(row) else { return nil }
            guard let folder = try tree.find(parent), folder.kind == .folder, !folder.isDeleted,
                folder.materialization == .whole
            else {
                try errnos { () throws(Errno) in try folders.preserveDeleted(row) }
                return nil
            }
            let children = try tree.children(of: folder)
            let other = children[row.name]
            if let other, !other.isNew { return nil }
            let name =
                other == nil ? row.name : tree.store.names.conflicts.free(besides: row.name) { children[$0] != nil }
            return (tree.presented(folder), folder.number, name, folder.lookups > 0)
        }
        guard let (above, number, name, isSeen) = target else { return nil }
        let call = PresentedCall.make(row.kind, name, in: above)
        let given = Locked<ItemNumber?>(nil)
        try present(call, isSeen: isSeen) { (tree) throws(ReplicaError) in
            guard let folder = tree.items[number], !folder.isDeleted else { throw .errno(.noSuchFileOrDirectory) }
            try tree.children(of: folder)
            try tree.vacant(name, in: folder)
            let node = try tree.putBack(row, name, in: folder, folders)
            given.withLock { $0 = node.number }
            return node
        }
        return given.withLock { $0 }
    }
}

extension Tree {
    /// Whether the store has the item again. Its tombstone is dropped: it was deleted on both sides.
    fileprivate func isInStoreAgain(_ row: ItemRow) throws(ReplicaError) -> Bool {
        guard let identifier = row.base?.identifier, let known = try find(identifier) else { return false }
        guard known.isDeleted else { return true }
        if !known.isInFlight { drop(known) }
        return false
    }

    /// Moves the file back into the tree and makes its node.
    fileprivate func putBack(
        _ row: ItemRow, _ name: FileName, in folder: Node, _ folders: StateFolders
    ) throws(ReplicaError) -> Node {
        let below = try descriptor(of: folder)
        let isFree = try takeAgain(ItemNumber(row.number))
        try errnos { () throws(Errno) in
            let deleted = try folders.openDeleted()
            defer { close(deleted) }
            try BackingPath(folder: deleted, name: FileName(row.asideName)).move(
                to: BackingPath(folder: below, name: name))
        }
        var row = row
        if row.inodeNumber == row.number || !isFree || items[inode: ItemNumber(row.inodeNumber)] == nil {
            if !isFree { row.number = items.numbers.take().rawValue }
            row.inodeNumber = row.number
        }
        row.name = name
        row.endUnsent()
        let node = row.makeNode(parent: folder, now: clock.now())
        node.base?.parent = folder.number
        node.base?.name = name
        if node.kind == .folder { node.children = [:] }
        insert(node)
        folder.children?[name] = node
        refreshFingerprint(node)
        note(node)
        want(node)
        return node
    }
}

extension ItemRow {
    /// Drops the unsent changes of an item that the store deleted.
    mutating func endUnsent() {
        flags.subtract(.untilCreated)
        (dirty, sent, sentContent, failure) = ([], nil, nil, nil)
    }
}
