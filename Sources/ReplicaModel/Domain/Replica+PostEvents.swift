internal import Threads

extension Replica {
    /// Posts an event about an item, with its current path.
    func post(_ kind: DomainEvent.Kind, _ number: ItemNumber, detail: String? = nil) {
        guard events.isHeard else { return }
        post(kind, path: lastPath(of: number), detail: detail)
    }

    /// Posts that programs changed an item. Moves and removals were posted when they happened.
    func postChange(of number: ItemNumber) {
        guard events.isHeard else { return }
        let path = withTree { tree -> [FileName]? in
            guard let node = tree.items[number], !node.isDeleted else { return nil }
            return node.base != nil && node.dirty.isSubset(of: .place) ? nil : tree.path(of: node)
        }
        if let path { post(.localChange, path: path) }
    }

    /// Posts that an item is at another place.
    func post(_ kind: DomainEvent.Kind, from former: [FileName], to path: [FileName]) {
        post(kind, path: path, detail: "from \(former.map(\.description).joined(separator: "/"))")
    }

    /// Where an item is, or was if it is deleted; nil if it is not known, or nobody listens.
    func lastPath(of number: ItemNumber) -> [FileName]? {
        guard events.isHeard else { return nil }
        return withTree { tree in (tree.items[number] ?? tree.items[inode: number]).flatMap(tree.formerPath(of:)) }
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
    /// The path of a node; for a deleted one, its path in the store, if it has one.
    fileprivate func formerPath(of node: Node) -> [FileName]? {
        var (here, below) = (node, [FileName]())
        // Folders that the store has moved into each other meanwhile have no end.
        while here.isDeleted, let place = here.placeInStore, below.count < Self.deepest {
            below.append(place.name)
            guard let folder = items[place.parent] else { return below.reversed() }
            here = folder
        }
        return here === root || here.parent != nil ? path(of: here) + below.reversed() : nil
    }

    private static let deepest = 4096
}
