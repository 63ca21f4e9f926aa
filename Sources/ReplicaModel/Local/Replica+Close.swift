extension Replica {
    /// The counterpart of an open: when the last writer closes, its changes are detected.
    package func closed(_ number: ItemNumber, isWriter: Bool) {
        try? withTreeWaking { (tree) throws(ReplicaError) in  // Nothing here throws; the lock's signature does.
            guard let node = tree.items[inode: number] else { return }
            node.opens -= 1
            if isWriter {
                node.writers -= 1
                if node.writers == 0 { tree.removeWriter(node) }
            }
            guard node.opens == 0, node.isDeleted || tree.items[node.number] == nil else { return }
            tree.closeDescriptor(of: node)
            if node.lookups == 0 { tree.items.remove(inode: number) }
        }
    }

    /// Notes that a file was written through a descriptor whose close the kernel does not report.
    package func settleWriters() {
        try? withTreeWaking { (tree) throws(ReplicaError) in  // Nothing here throws; the lock's signature does.
            tree.settleWrittenFiles()
        }
    }
}
