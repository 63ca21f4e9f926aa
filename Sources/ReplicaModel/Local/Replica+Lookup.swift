internal import Glibc
internal import SystemPackage

extension Replica {
    /// The entry `name` of a folder. Counts as one reference of the kernel, to be given back by ``forget(_:count:)``.
    package func lookup(_ name: FileName, in parent: some ItemReference) throws(ReplicaError) -> KernelEntry {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let folder = try tree.listed(parent)
            return try tree.refer(to: try tree.existing(name, in: folder))
        }
    }

    /// The results of ``lookup(_:in:)`` for `names`; nil for names that are gone.
    package func lookup(
        _ names: ArraySlice<FileName>, in parent: some ItemReference
    ) throws(ReplicaError) -> [KernelEntry?] {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let folder = try tree.listed(parent)
            var entries: [KernelEntry?] = []
            entries.reserveCapacity(names.count)
            for name in names {
                guard let node = folder.children?[name] else {
                    entries.append(nil)
                    continue
                }
                do throws(ReplicaError) {
                    entries.append(try tree.refer(to: node))
                } catch {
                    entries.append(nil)
                }
            }
            return entries
        }
    }

    /// An item that the kernel knew before, by its file handle. Counts as one reference like ``lookup(_:in:)``.
    /// - Parameter generation: The lower 20 bits of its generation then. A forgotten item gets that generation again.
    /// - Throws: ESTALE if there is no such item, or the kernel knows it in another generation, with other content.
    package func lookup(_ number: ItemNumber, generation: UInt32) throws(ReplicaError) -> KernelEntry {
        try withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = try tree.findInode(number), !node.isDeleted else { throw .errno(.stale) }
            let known = tree.items[inode: number] ?? node
            if known.lookups == 0, known.opens == 0 { known.generation = generation }
            guard known.generation & KernelItem.mask == generation else { throw .errno(.stale) }
            return try tree.refer(to: node)
        }
    }

    /// The folder above an item. Counts as one reference of the kernel.
    package func lookupParent(of item: some ItemReference) throws(ReplicaError) -> KernelEntry {
        try withTreeWaking { (tree) throws(ReplicaError) in
            try tree.refer(to: try tree.node(item).parent ?? tree.root)
        }
    }

    /// The generation in which the kernel knows an item; 0 for one that it doesn't know.
    package func generation(of number: ItemNumber) -> UInt32 {
        withTree { $0.items[inode: number]?.generation ?? 0 }
    }

    /// The attributes of an item, as stat(2) returns them.
    /// - Throws: ESTALE if this finds that the file was replaced, too: the attributes would be those of another one.
    package func attributes(of item: some ItemReference) throws(ReplicaError) -> KernelEntry {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let entry = try tree.entry(of: try tree.node(item))
            guard entry.number == item.number, item.isMeant(entry.generation) else { throw .errno(.stale) }
            return entry
        }
    }

    /// The entries of a folder at this moment, in no order.
    package func entries(of item: some ItemReference) throws(ReplicaError) -> [FolderEntry] {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let folder = try tree.listed(item)
            try tree.demand(.reading, of: folder, else: .permissionDenied)
            folder.usedAt = tree.clock.now()
            return (folder.children ?? [:]).values.map(FolderEntry.init)
        }
    }

    /// The parent folder, for `..`; the root is its own parent.
    package func parent(of item: some ItemReference) throws(ReplicaError) -> ItemNumber {
        try withTreeWaking { (tree) throws(ReplicaError) in try tree.node(item).parent?.number ?? .root }
    }
}

/// A line of a folder's listing.
package struct FolderEntry: Sendable {
    package let name: FileName
    package let number: ItemNumber
    /// Nil for devices, sockets and fifos.
    package let type: ItemKind?
    /// The item's offset in every listing of its folder: it never changes, and later items have higher ones. Starts at 3.
    package let offset: Int64

    fileprivate init(_ node: Node) {
        name = node.name
        number = node.inodeNumber
        type = node.flags.contains(.special) ? nil : node.kind
        offset = Int64(truncatingIfNeeded: node.number.rawValue) + 1
    }
}

extension Tree {
    /// The node's entry, with one more reference of the kernel.
    func refer(to node: Node) throws(ReplicaError) -> KernelEntry {
        let entry = try entry(of: node)
        // All names of a file are one inode to the kernel, which releases it by its number.
        items.holder(of: node).lookups += 1
        return entry
    }
}
