extension Replica {
    /// Gives back `count` references of the kernel.
    package func forget(_ number: ItemNumber, count: UInt64) {
        withTree { tree in
            guard let node = tree.items[inode: number] else { return }
            node.lookups -= min(count, node.lookups)
            guard node.lookups == 0, node.opens == 0 else { return }
            tree.items.mayHaveIdle = true
            if node.isDeleted || tree.items[node.number] == nil {
                tree.items.remove(inode: number)
                tree.closeDescriptor(of: node)
            } else if let parent = node.parent {
                tree.unload(node)
                if parent.lookups == 0 { tree.unload(parent) }
            }
        }
    }
}
