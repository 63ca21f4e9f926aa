internal import Glibc
internal import SystemPackage

extension Tree {
    /// The entry `name` of `folder`, loaded.
    func child(_ name: FileName, of folder: Node) throws(ReplicaError) -> Node? {
        try children(of: folder)[name]
    }

    /// The entries of a folder, all loaded; compared with the backing tree first when a scan is due.
    @discardableResult
    func children(of folder: Node) throws(ReplicaError) -> NodeTable<FileName> {
        if let children = folder.children, isSettled(folder) { return children }
        if folder.children == nil { try load(folder) }
        if scan != nil, !isAway(folder), scan?.compared.insert(folder.number).inserted == true {
            do throws(ReplicaError) {
                try compareEntries(of: folder)
            } catch {
                // It is compared at the place where it is found, or not at all.
                scan?.compared.remove(folder.number)
                throw error
            }
        }
        return folder.children ?? [:]
    }

    /// Whether a scan did not find the folder, or one above it, at its place: it is compared where it is found again.
    private func isAway(_ folder: Node) -> Bool {
        var here: Node? = folder
        while let node = here {
            if isMissing(node) { return true }
            here = node.parent
        }
        return false
    }

    private func load(_ folder: Node) throws(ReplicaError) {
        let rows = try reading { try ItemRow.children(of: folder.number, in: $0) }
        folder.children = [:]
        for row in rows where row.number != folder.number.rawValue {
            guard items[ItemNumber(row.number)] == nil, !unrecorded.removed.contains(ItemNumber(row.number)) else {
                continue
            }
            let node = row.makeNode(parent: folder, now: clock.now())
            folder.children?[node.name] = node
            insert(node)
        }
    }

    /// The node with this number, loaded together with its folders; nil if there is none.
    func find(_ number: ItemNumber) throws(ReplicaError) -> Node? {
        if let node = items[number] { return node }
        guard !items.holdsAll, !unrecorded.removed.contains(number),
            let row = try reading({ try ItemRow.of(number, in: $0) })
        else {
            return nil
        }
        return try find(row)
    }

    /// The node of the file or folder with this inode number for programs; nil if there is none.
    func findInode(_ number: ItemNumber) throws(ReplicaError) -> Node? {
        if let node = items[inode: number] { return node }
        if let node = try find(number), node.inodeNumber == number { return node }
        guard !items.holdsAll else { return nil }
        // The name whose number it is has gone, but the file has others.
        for row in try reading({ try ItemRow.withOther(inodeNumber: number, in: $0) }) {
            if let node = try find(ItemNumber(row.number)), node.inodeNumber == number {
                return items[inode: number] ?? node
            }
        }
        return nil
    }

    /// The node with this identifier in the store; nil if there is none.
    func find(_ identifier: ItemIdentifier) throws(ReplicaError) -> Node? {
        if identifier == .root { return root }
        if let node = items[identifier] { return node }
        guard !items.holdsAll, let row = try reading({ try ItemRow.of(identifier, in: $0) }) else { return nil }
        let node = try find(row)
        return node?.base?.isIdentified(by: identifier) == true ? node : nil
    }

    private func find(_ row: ItemRow) throws(ReplicaError) -> Node? {
        let number = ItemNumber(row.number)
        if let node = items[number] { return node }
        guard !unrecorded.removed.contains(number) else { return nil }
        if row.flags.contains(.deleted) {
            let node = row.makeNode(parent: nil, now: clock.now())
            insert(node)
            return node
        }
        guard let parent = try find(ItemNumber(row.parent)) else { return nil }
        try children(of: parent)
        return items[number]
    }

    /// Loads everything that waits to be sent, and the files that were open for writing.
    func loadPending() throws(ReplicaError) {
        let rows = try reading { try ItemRow.pending(in: $0) }
        for row in rows {
            do throws(ReplicaError) {
                _ = try find(row)
            } catch {
                // Its folder was moved: the scan finds both at the new place.
                guard scan != nil, [.noSuchFileOrDirectory, .notDirectory].contains(error.errno) else { throw error }
            }
        }
    }

    /// Reads the database; errors become EIO or ENOSPC.
    func reading<Result>(_ body: (Rows) throws -> Result) throws(ReplicaError) -> Result {
        do {
            return try database.read(body)
        } catch {
            throw .errno(Errno(state: error))
        }
    }

    /// Unloads a folder's entries if they are not in use. Requires that everything is recorded.
    func unload(_ folder: Node) {
        guard unrecorded.isEmpty, isSettled(folder) else { return }
        guard let children = folder.children, children.values.allSatisfy(isIdle) else { return }
        if !children.isEmpty { items.holdsAll = false }
        for node in children.values {
            items.unload(node)
            if node.descriptor >= 0 { closeDescriptor(of: node) }
        }
        folder.children = nil
    }

    /// Unloads unused folders from the leaves up, checking about `limit` nodes; none if nothing has happened since all were
    /// checked.
    func unloadFolders(limit: Int) {
        guard items.mayHaveIdle, unrecorded.isEmpty, scan == nil else { return }
        var left = limit
        unloadFolders(below: root, left: &left)
        items.mayHaveIdle = left <= 0
    }

    private func unloadFolders(below folder: Node, left: inout Int) {
        for child in (folder.children ?? [:]).values where child.children?.isEmpty == false {
            guard left > 0 else { return }
            unloadFolders(below: child, left: &left)
            left -= child.children?.count ?? 0
            unload(child)
        }
    }

    private func isIdle(_ node: Node) -> Bool {
        node.lookups == 0 && node.opens == 0 && node.writers == 0 && !node.isPending && node.failure == nil
            && (node.children?.isEmpty ?? true) && items.writing[node.number] == nil && !isMissing(node)
            && node.inodeNumber == node.number && !items.isLinked(node)
    }
}
