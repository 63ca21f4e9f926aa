internal import CLinux
internal import Glibc
internal import SystemPackage

extension Replica {
    /// Removes an item from the tree, through the mount.
    /// - Parameter removeFromTree: Removes the backing file and notes the removal; not called if the item is already gone.
    func removeFromTree(
        _ number: ItemNumber, _ removeFromTree: @escaping (Tree, Node) throws(ReplicaError) -> Void
    ) throws(ReplicaError) {
        let found = try withTreeWaking { (tree) throws(ReplicaError) -> (PresentedCall, ItemPlace, Bool)? in
            guard let node = try tree.find(number), let parent = node.parent else { return nil }
            let call = PresentedCall.remove(
                node.name, in: tree.presented(parent), isFolder: node.kind == .folder)
            return (call, ItemPlace(folder: parent.number, name: node.name), parent.lookups > 0)
        }
        guard let (call, key, isSeen) = found else { return }
        try present(call, isSeen: isSeen) { (tree) throws(ReplicaError) in
            guard let node = tree.items[number], let parent = node.parent, parent.number == key.folder,
                node.name == key.name
            else { throw .errno(.noSuchFileOrDirectory) }
            try removeFromTree(tree, node)
            return nil
        }
    }
}

extension Tree {
    /// Removes a node's name in the backing tree. Open files stay reachable.
    func removeBelow(_ node: Node) throws(ReplicaError) {
        guard let parent = node.parent else { throw .errno(.noSuchFileOrDirectory) }
        try keepReachable(node)
        let below = try descriptor(of: parent)
        try errnos { () throws(Errno) in
            try node.name.withCString { (name) throws(Errno) in
                try Errno.check(unlinkat(below, name, node.kind == .folder ? AT_REMOVEDIR : 0))
            }
        }
    }
}
