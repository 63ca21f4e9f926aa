internal import GRDB
internal import SystemPackage

extension Replica {
    /// Pins or unpins an item. Takes effect immediately, and is recorded durably when this returns.
    func setPin(_ isPinned: Bool, of number: ItemNumber) throws {
        try withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = try tree.find(number), !node.isDeleted else { throw .errno(.noSuchFileOrDirectory) }
            if isPinned {
                node.pin = .pinned
            } else {
                node.pin = node.parent.map(tree.isPinned) == true ? .unpinned : .inherited
            }
            tree.note(node)
            guard isPinned else { return }
            tree.wanted.notePin()
            tree.wantBelow(node)
        }
        try record()
        try database.makeDurable()
    }

    /// Finds the pinned items and dropped listings of earlier runs.
    func recallPins() {
        // If the database can't be read, none are found.
        let numbers = try? database.read { rows in
            try Int64.fetchAll(rows, sql: "SELECT number FROM item WHERE \(RowCondition.isPinned)")
        }
        let hasFormer = try? database.read { try FormerInodeNumbers.areThere(in: $0) }
        withTree { $0.items.numbers.hasFormer = hasFormer ?? false }
        guard let numbers, !numbers.isEmpty else { return }
        withTree { tree in
            tree.wanted.notePin()
            tree.wanted.insertTrees(numbers.map { ItemNumber(UInt64(bitPattern: $0)) })
        }
    }

    /// A pinned item that is not completely local; nil if there is none.
    func takeWanted() throws -> ItemNumber? {
        for root in withTree({ $0.wanted.takeTrees() }) { try collectWanted(below: root) }
        return withTree { $0.wanted.take() }
    }

    /// Puts back items that could not be fetched.
    func putBackWanted(_ numbers: some Sequence<ItemNumber>) {
        withTree { $0.wanted.insert(numbers) }
    }

    /// The kind of an item that still has to be fetched because it is pinned; nil if it does not have to be.
    func wantedKind(of number: ItemNumber) -> ItemKind? {
        withTree { tree in
            guard let node = tree.items[number], node.materialization != .whole, tree.isPinned(node) else { return nil }
            return node.kind
        }
    }

    /// Finds what is not local below a pinned folder, in the database.
    private func collectWanted(below root: ItemNumber) throws {
        try record()
        var open = [root]
        var found: [ItemNumber] = []
        if let row = try database.read({ try ItemRow.of(root, in: $0) }), row.materialization != .whole {
            found.append(root)
        }
        while let folder = open.popLast() {
            for row in try database.read({ try ItemRow.children(of: folder, in: $0) }) {
                let number = ItemNumber(row.number)
                guard row.pin != .unpinned, number != .root else { continue }
                if row.materialization != .whole {
                    found.append(number)
                } else if row.kind == .folder {
                    open.append(number)
                }
            }
        }
        putBackWanted(found)
    }
}

extension Tree {
    /// Whether the node is pinned by itself or by the nearest folder above that is pinned or unpinned.
    func isPinned(_ node: Node) -> Bool {
        var here: Node? = node
        while let node = here {
            if node.pin != .inherited { return node.pin == .pinned }
            here = node.parent
        }
        return false
    }

    /// Queues a node's content for download if it is pinned.
    func want(_ node: Node) {
        guard wanted.hasPins, node.materialization != .whole, !node.isDeleted, isPinned(node) else { return }
        wanted.insert(node.number)
        pending.wake()
    }

    /// Queues a node and everything below it for download if it is pinned.
    func wantBelow(_ node: Node) {
        guard wanted.hasPins, isPinned(node) else { return }
        guard node.kind == .folder else { return want(node) }
        wanted.insertTrees([node.number])
        pending.wake()
    }
}
