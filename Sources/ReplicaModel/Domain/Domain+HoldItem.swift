internal import SystemPackage

/// An item that stays loaded until it is released, as if the kernel knew it.
struct HeldItem: Sendable {
    var number: ItemNumber
    /// The inode number.
    var inodeNumber: ItemNumber
}

extension Domain {
    /// Finds the item at a path and keeps it loaded until ``release(_:)``.
    /// - Parameter listing: Whether unlisted folders on the path are listed now.
    /// - Throws: ENOENT; ENOTDIR; the errors of ``list(_:)``.
    func hold(_ path: [FileName], listing: Bool) async throws(Errno) -> HeldItem {
        while true {
            let folder: ItemNumber
            do throws(ReplicaError) {
                return try replica.hold(path)
            } catch {
                guard case .needsListing(let found) = error else { throw error.errno }
                folder = found
            }
            guard listing else { throw .noSuchFileOrDirectory }
            try await engine.list(folder)
        }
    }

    func release(_ item: HeldItem) { replica.forget(item.inodeNumber, count: 1) }
}

extension Replica {
    /// - Throws: ``ReplicaError/needsListing(_:)`` if a folder on the path was never listed.
    func hold(_ path: [FileName]) throws(ReplicaError) -> HeldItem {
        try withTreeWaking { (tree) throws(ReplicaError) in
            var node = tree.root
            for name in path {
                guard node.kind == .folder else { throw .errno(.notDirectory) }
                guard node.materialization == .whole else { throw .needsListing(node.number) }
                guard let next = try tree.child(name, of: node) else { throw .errno(.noSuchFileOrDirectory) }
                node = next
            }
            return tree.keepLoaded(node)
        }
    }

    /// The item with this number, kept loaded; nil if it is not in the tree.
    func hold(_ number: ItemNumber) throws(ReplicaError) -> HeldItem? {
        try withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = try tree.find(number), !node.isDeleted else { return nil }
            return tree.keepLoaded(node)
        }
    }
}

extension Tree {
    fileprivate func keepLoaded(_ node: Node) -> HeldItem {
        items.holder(of: node).lookups += 1
        return HeldItem(number: node.number, inodeNumber: node.inodeNumber)
    }
}
