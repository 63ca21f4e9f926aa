internal import SystemPackage
internal import Threads

/// Writes the tree's changes to the database, one writer at a time.
struct Recording {
    /// The error of the last attempt; nil if it succeeded. Shown in the domain's status.
    var failure: String?

    /// How long the engine rests after a failure.
    fileprivate static let restSeconds = 5.0
}

extension Replica {
    /// Until when the engine does nothing that has to be recorded, in seconds since 1970, because that failed: a full disk stays full for
    /// a while. Nil if it may.
    var recordingRest: Double? {
        let time = recordingRetryAt.withLock { $0 }
        return time > now() ? time : nil
    }

    /// Writes all changes since the last call to the database, in one transaction.
    /// - Parameter together: Additional writes in the same transaction.
    func record(together: @escaping (Rows) throws -> Void = { _ in }) throws {
        try recording.withLock { (recording: inout Recording) throws in
            let (batch, next, answers) = withTree { tree in
                (tree.unrecorded.take(), tree.items.numbers.reserve(), tree.store.answers.takeUnrecorded())
            }
            do {
                try database.write { transaction in
                    for row in batch.rows { try row.write(to: transaction, round: batch.round) }
                    for number in batch.removed { try ItemRow.delete(number, from: transaction) }
                    for row in batch.aside { try SetAsideRows.write(row, to: transaction, round: batch.round) }
                    for row in batch.superseded { try SupersededRows.write(row, to: transaction, round: batch.round) }
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
                    tree.store.answers.putBack(answers)
                }
                recording.failure = (error as? DatabaseFailure)?.message ?? "\(error)"
                let retryAt = now() + Recording.restSeconds
                recordingRetryAt.withLock { $0 = retryAt }
                throw error
            }
            recording.failure = nil
            recordingRetryAt.withLock { $0 = 0 }
            withTree { $0.items.closeSurplusFolders() }
        }
    }

    /// Records that a program has synced an item that the store has or may have: after a power cut, it counts as an
    /// edit of that item, whose identity is known. ``recordDurably()`` must follow.
    /// - Parameter size: A file's size before it was synced, in bytes.
    package func noteSynced(_ number: ItemNumber, size: Int64) {
        try? withTreeWaking { (tree) throws(ReplicaError) in  // Nothing here throws; the lock's signature does.
            guard let node = tree.items[inode: number] else { return }
            tree.settle(node)
            for name in tree.items.names(of: node) where !name.dirty.isEmpty && !name.isDeleted {
                if name.kind == .file, name.dirty.contains(.contents) {
                    if name.isInFlight, name.dirtySinceSent.contains(.contents) {
                        name.syncedSinceSent = min(name.syncedSinceSent ?? size, size)
                    }
                    // The recorded size is valid as long as the file does not become shorter.
                    guard name.syncedSize.map({ $0 > size }) ?? true else { continue }
                    name.syncedSize = size
                    tree.note(name)
                }
                if name.base != nil || name.flags.contains(.createSent) { tree.unrecorded.noteUnobservable() }
            }
        }
    }

    /// Makes changes that are not visible in the tree itself survive a power cut, as fsync(2) promises: deletions,
    /// xattrs that are still to be sent, and that a known file was edited. Everything else is found again by comparing
    /// (docs/decisions/no-intent-log.md), and costs nothing here.
    package func recordDurably() throws {
        let wanted = withTree { $0.unrecorded.unobservableChanges }
        try durable.withLock { (durable: inout UInt64) throws in
            guard durable < wanted else { return }
            let now = withTree { $0.unrecorded.unobservableChanges }
            try record()
            try database.makeDurable()
            durable = now
        }
    }
}

extension ItemFields {
    /// Fields that can change without a visible change of inode number, size or times, or without telling which
    /// changed.
    static let unobservable: ItemFields = [.tags, .lastUsedDate, .favoriteRank, .extendedAttributes]
}

extension Tree {
    fileprivate func putBack(_ batch: Unrecorded.Batch) {
        for row in batch.rows {
            guard let node = items[ItemNumber(row.number)], !unrecorded.removed.contains(node.number) else { continue }
            note(node)
        }
        unrecorded.putBack(batch)
        items.numbers.forgetReservation()
    }
}
