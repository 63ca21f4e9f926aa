/// What the tree has and the database does not: ``Replica/record(together:)`` takes and writes it.
struct Unrecorded {
    /// Nodes whose current state has to be written.
    private(set) var nodes: [ItemNumber: Node] = [:]
    /// Items whose rows have to be deleted.
    private(set) var removed: Set<ItemNumber> = []
    /// Items that were set aside, as they were in the tree.
    private var aside: [ItemRow] = []
    /// What the store had of items before they changed there.
    private var superseded: [ItemRow] = []
    /// How many changes there were that comparing the tree with an older database would not find again.
    private(set) var untoldChanges: UInt64 = 0

    /// Whether the database has all nodes as they are.
    var isEmpty: Bool { nodes.isEmpty && removed.isEmpty }

    mutating func note(_ node: Node) {
        node.isRecorded = false
        nodes[node.number] = node
    }

    /// The item is gone for good.
    mutating func remove(_ number: ItemNumber) {
        nodes[number] = nil
        removed.insert(number)
    }

    /// The number is used again.
    /// - Returns: Whether its row was to be deleted.
    mutating func keep(_ number: ItemNumber) -> Bool { removed.remove(number) != nil }

    mutating func noteUntold() { untoldChanges += 1 }
    mutating func noteAside(_ row: ItemRow) { aside.append(row) }
    mutating func noteSuperseded(_ row: ItemRow) { superseded.append(row) }

    /// Rows to be written in one transaction.
    struct Batch {
        var rows: [ItemRow]
        var removed: Set<ItemNumber>
        var aside: [ItemRow]
        var superseded: [ItemRow]

        /// Whether it has a row that a power cut may take.
        var makesRound: Bool { !rows.isEmpty || !superseded.isEmpty }
    }

    mutating func take() -> Batch {
        let rows = nodes.values.map { node in
            defer { (node.isRecorded, node.hasRow) = (true, true) }
            return ItemRow(node)
        }
        defer {
            nodes.removeAll(keepingCapacity: nodes.count < 4096)
            removed.removeAll()
            (aside, superseded) = ([], [])
        }
        return Batch(rows: rows, removed: removed, aside: aside, superseded: superseded)
    }

    /// The batch could not be written. Its nodes are to be noted again before.
    mutating func putBack(_ batch: Batch) {
        removed.formUnion(batch.removed)
        aside.insert(contentsOf: batch.aside, at: 0)
        superseded.insert(contentsOf: batch.superseded, at: 0)
    }
}
