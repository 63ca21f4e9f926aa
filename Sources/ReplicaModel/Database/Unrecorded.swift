/// What the database doesn't have yet, which ``Replica/record(together:)`` takes and writes, and what of it a power cut
/// may revert.
struct Unrecorded {
    /// What is known to be on the disks.
    var rounds = DurabilityRounds()
    /// Nodes whose current state has to be written.
    private(set) var nodes: [ItemNumber: Node] = [:]
    /// Items whose rows have to be deleted.
    private(set) var removed: Set<ItemNumber> = []
    /// Items that were set aside, in their former state in the tree.
    private var aside: [ItemRow] = []
    /// The store's former states of items that changed there.
    private var superseded: [ItemRow] = []
    /// The number of changes that a comparison of the tree with an older database would not find again.
    private(set) var unobservableChanges: UInt64 = 0

    /// Whether the database has the current state of all nodes.
    var isEmpty: Bool { nodes.isEmpty && removed.isEmpty }

    mutating func note(_ node: Node) {
        node.isRecorded = false
        nodes[node.number] = node
    }

    /// Records that the item was removed permanently.
    mutating func remove(_ number: ItemNumber) {
        nodes[number] = nil
        removed.insert(number)
    }

    /// Records that the number is used again.
    /// - Returns: Whether its row was about to be deleted.
    mutating func keep(_ number: ItemNumber) -> Bool { removed.remove(number) != nil }

    mutating func noteUnobservable() { unobservableChanges += 1 }
    mutating func noteAside(_ row: ItemRow) { aside.append(row) }
    mutating func noteSuperseded(_ row: ItemRow) { superseded.append(row) }

    /// Rows to be written in one transaction.
    struct Batch {
        var rows: [ItemRow]
        var removed: Set<ItemNumber>
        var aside: [ItemRow]
        var superseded: [ItemRow]
        /// The round in which they are written.
        var round: Int64
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
        if !rows.isEmpty || !superseded.isEmpty { rounds.noteRow() }
        return Batch(rows: rows, removed: removed, aside: aside, superseded: superseded, round: rounds.present)
    }

    /// Restores a batch that could not be written. Its nodes must be noted again before.
    mutating func putBack(_ batch: Batch) {
        removed.formUnion(batch.removed)
        aside.insert(contentsOf: batch.aside, at: 0)
        superseded.insert(contentsOf: batch.superseded, at: 0)
    }
}
