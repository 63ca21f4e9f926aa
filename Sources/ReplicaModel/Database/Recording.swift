internal import SystemPackage
internal import Threads

/// One writer at a time brings the database up to the tree.
struct Recording {
    /// Whether the last attempt failed, and why; said in the domain's status.
    var failure: String?
}

extension Replica {
    /// Writes what changed since the last call to the database, in one transaction.
    /// - Parameter together: Written in the same transaction.
    func record(together: @escaping (Rows) throws -> Void = { _ in }) throws {
        try recording.withLock { (recording: inout Recording) throws in
            let ((rows, removed, next, round), aside, superseded, answers) = withTree {
                ($0.takeChanges(), $0.takeAside(), $0.takeSuperseded(), $0.answers.takeUnrecorded())
            }
            do {
                try database.write { transaction in
                    for row in rows { try row.write(to: transaction, round: round) }
                    for number in removed { try ItemRow.delete(number, from: transaction) }
                    for row in aside { try AsideRows.write(row, to: transaction, round: round) }
                    for row in superseded { try SupersededRows.write(row, to: transaction, round: round) }
                    if let next { try Meta.nextNumber.write(String(next), to: transaction) }
                    for (identifier, count) in answers {
                        try Incoming.noteAnswer(about: identifier, count, in: transaction)
                    }
                    try together(transaction)
                }
            } catch {
                withTree { tree in
                    tree.putBack(rows, removed)
                    tree.aside.insert(contentsOf: aside, at: 0)
                    tree.superseded.insert(contentsOf: superseded, at: 0)
                    tree.answers.putBack(answers)
                }
                recording.failure = (error as? StateFailure)?.message ?? "\(error)"
                throw error
            }
            recording.failure = nil
            withTree { $0.closeFolders() }
        }
    }

    /// Notes what a program has synced of an item that the store has or may have: after a power cut that is an edit of it, and
    /// its identity is known. ``recordDurably()`` is to follow.
    /// - Parameter size: A file's size before it was synced, in bytes.
    package func noteSynced(_ number: ItemNumber, size: Int64) {
        try? withTreeWaking { (tree) throws(ReplicaError) in  // Nothing here throws; the lock's signature does.
            guard let node = tree.nodesByInode[number] else { return }
            tree.settle(node)
            for name in tree.names(of: node) where !name.dirty.isEmpty && !name.isDeleted {
                if name.kind == .file, name.dirty.contains(.contents) {
                    // What the database says holds as long as the file does not become shorter.
                    guard name.syncedSize.map({ $0 > size }) ?? true else { continue }
                    name.syncedSize = size
                    tree.note(name)
                }
                if name.base != nil || name.flags.contains(.createSent) { tree.untoldChanges += 1 }
            }
        }
    }

    /// Makes what the tree itself does not tell survive a power cut, as fsync(2) promises: that something was deleted,
    /// which xattrs are still to be sent, that a known file was edited. All else is found again by comparing (docs/decisions/no-intent-log.md), and costs
    /// nothing here.
    package func recordDurably() throws {
        let wanted = withTree { $0.untoldChanges }
        try durable.withLock { (durable: inout UInt64) throws in
            guard durable < wanted else { return }
            let now = withTree { $0.untoldChanges }
            try record()
            try database.makeDurable()
            durable = now
        }
    }
}

extension ItemFields {
    /// What may change without inode number, size or times telling that it did, or what.
    static let untoldByStatus: ItemFields = [.tags, .lastUsedDate, .favoriteRank, .extendedAttributes]
}

extension Tree {
    /// How many numbers are set aside at a time: after a crash that many are skipped, so that none is used twice.
    private static let reserve: UInt64 = 1 << 20

    fileprivate func takeChanges() -> ([ItemRow], Set<ItemNumber>, UInt64?, Int64) {
        let rows = changed.values.map { node in
            node.isRecorded = true
            return ItemRow(node)
        }
        let gone = removed
        if !rows.isEmpty || !superseded.isEmpty { rounds.isBehind = true }
        changed.removeAll(keepingCapacity: changed.count < 4096)
        removed.removeAll()
        guard nextNumber + Self.reserve / 2 > reservedNumber else { return (rows, gone, nil, rounds.present) }
        reservedNumber = nextNumber + Self.reserve
        return (rows, gone, reservedNumber, rounds.present)
    }

    fileprivate func takeAside() -> [ItemRow] {
        defer { aside = [] }
        return aside
    }

    fileprivate func takeSuperseded() -> [ItemRow] {
        defer { superseded = [] }
        return superseded
    }

    fileprivate func putBack(_ rows: [ItemRow], _ gone: Set<ItemNumber>) {
        for row in rows {
            guard let node = items[ItemNumber(row.number)], !removed.contains(node.number) else { continue }
            note(node)
        }
        removed.formUnion(gone)
        reservedNumber = 0
    }
}
