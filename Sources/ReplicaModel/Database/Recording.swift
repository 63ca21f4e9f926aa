internal import SystemPackage
internal import Threads

/// Writes the tree's changes to the database, one writer at a time.
struct Recording {
    /// Why the last attempt failed; nil if it did not. Shown in the domain's status.
    var failure: String?
}

extension Replica {
    /// Writes what changed since the last call to the database, in one transaction.
    /// - Parameter together: Written in the same transaction.
    func record(together: @escaping (Rows) throws -> Void = { _ in }) throws {
        try recording.withLock { (recording: inout Recording) throws in
            let (batch, round, next, answers) = withTree { tree in
                let batch = tree.unrecorded.take()
                if batch.makesRound { tree.rounds.isBehind = true }
                return (batch, tree.rounds.present, tree.itemNumbers.reserve(), tree.answers.takeUnrecorded())
            }
            do {
                try database.write { transaction in
                    for row in batch.rows { try row.write(to: transaction, round: round) }
                    for number in batch.removed { try ItemRow.delete(number, from: transaction) }
                    for row in batch.aside { try AsideRows.write(row, to: transaction, round: round) }
                    for row in batch.superseded { try SupersededRows.write(row, to: transaction, round: round) }
                    if let next { try Meta.nextNumber.write(String(next), to: transaction) }
                    if !answers.isEmpty, try Incoming.areThere(in: transaction) {
                        for (identifier, count) in answers {
                            try Incoming.noteAnswer(about: identifier, count, in: transaction)
                        }
                    }
                    try together(transaction)
                }
            } catch {
                withTree { tree in
                    tree.putBack(batch)
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
            guard let node = tree.items[inode: number] else { return }
            tree.settle(node)
            for name in tree.items.names(of: node) where !name.dirty.isEmpty && !name.isDeleted {
                if name.kind == .file, name.dirty.contains(.contents) {
                    // What the database says holds as long as the file does not become shorter.
                    guard name.syncedSize.map({ $0 > size }) ?? true else { continue }
                    name.syncedSize = size
                    tree.note(name)
                }
                if name.base != nil || name.flags.contains(.createSent) { tree.unrecorded.noteUntold() }
            }
        }
    }

    /// Makes what the tree itself does not tell survive a power cut, as fsync(2) promises: that something was deleted,
    /// which xattrs are still to be sent, that a known file was edited. All else is found again by comparing (docs/decisions/no-intent-log.md), and costs
    /// nothing here.
    package func recordDurably() throws {
        let wanted = withTree { $0.unrecorded.untoldChanges }
        try durable.withLock { (durable: inout UInt64) throws in
            guard durable < wanted else { return }
            let now = withTree { $0.unrecorded.untoldChanges }
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
    fileprivate func putBack(_ batch: Unrecorded.Batch) {
        for row in batch.rows {
            guard let node = items[ItemNumber(row.number)], !unrecorded.removed.contains(node.number) else { continue }
            note(node)
        }
        unrecorded.putBack(batch)
        itemNumbers.forgetReservation()
    }
}
