internal import Glibc
internal import SystemPackage

extension Replica {
    /// link(2): another name of a file, an item of its own that shows the same inode number (MODEL.md#decisions).
    package func link(
        _ item: some ItemReference, as name: FileName, in parent: some ItemReference
    ) throws(ReplicaError) -> KernelEntry {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let source = try tree.node(item)
            guard source.kind != .folder else { throw .errno(.notPermitted) }
            guard source.materialization == .whole else { throw .needsContent(item.number) }
            let folder = try tree.listed(parent)
            try tree.vacant(name, in: folder)
            try tree.demand(.writing, of: folder, else: .permissionDenied)
            let below = try tree.descriptor(of: folder)
            let status = try tree.withFile(of: source) { (file) throws(Errno) in
                try file.link(as: name, in: below)
                return try file.status()
            }
            let node = tree.isUnnamed(source) ? source : tree.makeOther(nameOf: source)
            tree.adopt(node, as: name, in: folder)
            node.fingerprint = FileFingerprint(status)
            source.fingerprint = node.fingerprint
            source.lookups += 1
            tree.edit(node, ItemFields.ofNew(node.kind))
            return tree.entry(of: source, status)
        }
    }
}

extension Tree {
    /// An item for another name of a node's file.
    fileprivate func makeOther(nameOf source: Node) -> Node {
        let node = Node(number: items.numbers.take(), parent: nil, name: FileName(""), kind: source.kind)
        node.inodeNumber = source.inodeNumber
        node.flags.formUnion(source.flags.intersection(.special))
        return node
    }

    /// A file that is now separate gets its own number; its other names keep the old file.
    func separate(_ node: Node) {
        for changed in items.separate(node) { note(changed) }
    }
}
