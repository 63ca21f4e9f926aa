internal import GRDB
internal import Glibc
internal import SystemPackage

extension Replica {
    /// Whether a folder is listed.
    func isListed(_ number: ItemNumber) -> Bool { withTree { $0.items[number]?.materialization == .whole } }

    /// The number of a known item that was not deleted here.
    func number(of identifier: ItemIdentifier) throws(ReplicaError) -> ItemNumber? {
        try withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = try tree.find(identifier), !node.isDeleted else { return nil }
            return node.number
        }
    }

    /// A folder's identifier in the store, if it is not listed yet.
    func listingTarget(_ number: ItemNumber) throws(ReplicaError) -> ItemIdentifier? {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let folder = try tree.folder(number)
            guard folder.materialization != .whole || tree.items.needsListing.contains(folder.number) else {
                return nil
            }
            return folder.base?.identifier
        }
    }

    /// Creates the items of a first listing. They appear to the kernel all at once, because the folder counts as listed
    /// only at the end.
    /// - Parameter asked: ``Incoming/asked`` for the items.
    /// - Returns: The items that can't be created here.
    func fill(_ number: ItemNumber, with items: [Item], asked: UInt64) throws(ReplicaError) -> [Item] {
        var refused: [Item] = []
        // The item is known at another place: it moved here, or away since the listing; or it was known, and was deleted
        // here since. The store's feed need not report that, because it may not have known the item's former place
        // either.
        var moved: [ItemIdentifier] = []
        try withTreeWaking { (tree) throws(ReplicaError) in
            let folder = try tree.folder(number)
            guard folder.materialization != .whole else { return }
            folder.evictions += 1
            if folder.children == nil { folder.children = [:] }
            try tree.asOwner(of: [folder]) { () throws(ReplicaError) in try tree.clearLeftovers(in: folder) }
        }
        // All other items get their names first.
        let ordered = withTree { tree in
            items.filter { !tree.store.names.interim.isInterim($0.filename) }
                + items.filter { tree.store.names.interim.isInterim($0.filename) }
        }
        for start in stride(from: 0, to: ordered.count, by: Self.atOnce) {
            try withTreeWaking { (tree) throws(ReplicaError) in
                let folder = try tree.folder(number)
                guard folder.materialization != .whole else { return }
                try tree.asOwner(of: [folder]) { () throws(ReplicaError) in
                    for item in ordered[start..<min(start + Self.atOnce, ordered.count)] {
                        guard item.filename.isValid, folder.children?[item.filename] == nil else {
                            refused.append(item)
                            continue
                        }
                        let isKnown = try tree.find(item.identifier) != nil
                        if isKnown || tree.store.answers.isStale(item.identifier, asked: asked) {
                            moved.append(item.identifier)
                            continue
                        }
                        if try !tree.makeIfPossible(item, in: folder) { refused.append(item) }
                    }
                }
            }
        }
        try recordListed(number, asking: moved)
        if number == .root { try dropRootMark() }
        try withTreeWaking { (tree) throws(ReplicaError) in
            let folder = try tree.folder(number)
            folder.materialization = .whole
            tree.refreshFingerprint(folder)
            tree.note(folder)
        }
        return refused
    }

    /// The database knows the listing before anything can be added to the folder: after a crash, entries in a folder
    /// that is not listed have no owner.
    /// - Parameter asking: The items that the store is asked about.
    private func recordListed(_ number: ItemNumber, asking: [ItemIdentifier]) throws(ReplicaError) {
        do {
            try record { rows in
                let questions = asking.map { Incoming(identifier: $0, item: nil, asked: 0, isQuestion: true) }
                try Incoming.write(questions, anchor: nil, to: rows)
                try rows.execute(
                    sql: "UPDATE item SET materialization = \(materialization: .whole) WHERE number = ?",
                    arguments: [number.argument])
            }
        } catch {
            throw .errno(Errno(state: error))
        }
    }

    /// The database now knows that the root is listed; a different database is recognized by its epoch.
    private func dropRootMark() throws(ReplicaError) {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let place = BackingPath(root: tree.root.descriptor)
            try errnos { () throws(Errno) in
                try place.removeMark()
            }
        }
    }

    /// How many placeholders are created before the lock is released.
    private static let atOnce = 256
}

extension Tree {
    /// Creates an item. If it can't exist here, nothing remains of it.
    fileprivate func makeIfPossible(_ item: Item, in folder: Node) throws(ReplicaError) -> Bool {
        let name = nameHere(of: item, as: nil, in: folder)
        do throws(ReplicaError) {
            try make(item, as: name, in: folder)
            return true
        } catch {
            guard error.errno.isOfItem else { throw error }
            // Its name may have been made before it failed.
            let below = try descriptor(of: folder)
            let flags: Int32 = item.kind == .folder ? AT_REMOVEDIR : 0
            name.withCString { _ = unlinkat(below, $0, flags) }
            return false
        }
    }

    /// Removes the remains of an unfinished or dropped listing.
    func clearLeftovers(in folder: Node) throws(ReplicaError) {
        try clearUnlisted(folder)
        let rows = try reading { try ItemRow.children(of: folder.number, in: $0) }
        for row in rows where items[ItemNumber(row.number)] == nil { unrecorded.remove(ItemNumber(row.number)) }
        for node in (folder.children ?? [:]).values {
            setBase(nil, of: node)
            drop(node)
        }
    }
}
