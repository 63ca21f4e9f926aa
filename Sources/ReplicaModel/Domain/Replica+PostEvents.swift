internal import Threads

extension Replica {
    /// Posts an event about an item, with its current path.
    func post(_ kind: DomainEvent.Kind, _ number: ItemNumber, detail: String? = nil) {
        guard events.isHeard else { return }
        let path = withTree { tree in (tree.items[number] ?? tree.items[inode: number]).map(tree.formerPath(of:)) }
        events.yield(DomainEvent(kind, path: path, detail: detail, seconds: clock.wall()))
    }

    /// Posts an event about the domain.
    func post(_ kind: DomainEvent.Kind, path: [FileName]? = nil, detail: String? = nil) {
        guard events.isHeard else { return }
        events.yield(DomainEvent(kind, path: path, detail: detail, seconds: clock.wall()))
    }
}

extension Replica {
    /// Whether the last attempt for an item failed.
    func hasFailed(_ number: ItemNumber) -> Bool { withTree { $0.items[number]?.failure != nil } }
}

extension Tree {
    /// The path of a node; for a deleted one, its path in the store.
    fileprivate func formerPath(of node: Node) -> [FileName] {
        guard node.isDeleted, let base = node.base else { return path(of: node) }
        return (items[base.parent].map(path(of:)) ?? []) + [base.name]
    }
}
