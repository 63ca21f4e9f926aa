internal import GRDB
internal import SystemPackage

extension Replica {
    /// How many calls were answered so far: answers to later requests include their effects.
    var answers: UInt64 { withTree { $0.store.answers.count } }

    /// Notes the store's changes, to be applied later, together with the anchor after them and the unrecorded state of
    /// the tree: an item that is removed because another item now has its identifier must not be recorded under that
    /// identifier after a crash.
    /// - Parameter replaced: Changes noted up to this sequence are outdated.
    func noteIncoming(
        _ changes: [Incoming], anchor: SyncAnchor?, replacing replaced: Int64 = 0
    ) throws(LocalStateFailure) {
        do {
            try record { [self] rows in
                if replaced > 0 { try Incoming.removeAll(upTo: replaced, from: rows) }
                // In the transaction, so that later answers are recorded later.
                try Incoming.write(markStale(changes), anchor: anchor, to: rows)
            }
        } catch {
            throw .ofDatabase("written", error)
        }
    }

    /// Marks changes that are older than an answer recorded before.
    private func markStale(_ changes: [Incoming]) -> [Incoming] {
        withTree { tree in
            changes.map { change in
                var change = change
                if tree.store.answers.isStale(change.identifier, asked: change.asked) { change.asked = 0 }
                return change
            }
        }
    }

    /// The sequence of the newest change that is noted.
    func lastIncoming() throws(LocalStateFailure) -> Int64 {
        do {
            return try database.read { try Incoming.lastSequence(in: $0) }
        } catch {
            throw .ofDatabase("read", error)
        }
    }

    /// The sequence of the newest noted change; 0 if there is none.
    func newestIncoming() throws -> Int64 {
        try database.read { try Int64.fetchOne($0, sql: "SELECT max(sequence) FROM incoming") ?? 0 }
    }

    /// Whether a noted change of the item is not applied yet.
    func isNoted(_ identifier: ItemIdentifier) throws -> Bool {
        try database.read { try Incoming.contains(identifier, in: $0) }
    }

    func incoming(after sequence: Int64, limit: Int) throws -> [(Int64, Incoming)] {
        try database.read { try Incoming.read(after: sequence, limit: limit, from: $0) }
    }

    /// Records the tree's state and that these changes are in it.
    func noteApplied(_ applied: [(Int64, ItemIdentifier)]) throws {
        try record { rows in
            for (sequence, identifier) in applied { try Incoming.remove(identifier, sequence: sequence, from: rows) }
        }
    }

    /// The listed folders, parents first.
    func listedFolders() throws(LocalStateFailure) -> [(number: ItemNumber, identifier: ItemIdentifier)] {
        do {
            try record()
            return try database.read { rows in
                let found = try Row.fetchAll(
                    rows,
                    sql: """
                        SELECT number, identifier FROM item
                        WHERE kind = \(kind: .folder) AND materialization = \(materialization: .whole)
                            AND identifier IS NOT NULL AND \(RowCondition.isThere)
                        ORDER BY number
                        """)
                return found.map { (ItemNumber(UInt64(bitPattern: $0["number"])), ItemIdentifier($0["identifier"])) }
            }
        } catch {
            throw .ofDatabase("read", error)
        }
    }

    /// The items in folders that the store no longer has: nothing else would report that they are gone.
    func knownItemsInLostFolders() throws(LocalStateFailure) -> [ItemIdentifier] {
        do {
            return try database.read { rows in
                try String.fetchAll(
                    rows,
                    sql: """
                        SELECT item.identifier FROM item JOIN item AS folder ON folder.number = item.baseParent
                        WHERE item.identifier IS NOT NULL AND folder.identifier IS NULL ORDER BY item.number
                        """)
            }.map { ItemIdentifier($0) }
        } catch {
            throw .ofDatabase("read", error)
        }
    }
}

extension Replica {
    /// The listed folders in which the store may have more items than we know.
    func foldersToList() -> [(ItemNumber, ItemIdentifier)] {
        withTree { tree in
            tree.items.needsListing.sorted().compactMap { number in
                guard let node = tree.items[number], let base = node.base, !node.isDeleted else { return nil }
                return (number, base.identifier)
            }
        }
    }

    /// Notes that a folder was listed again.
    func noteListed(_ number: ItemNumber) {
        withTree { tree in
            tree.items.needsListing.remove(number)
            guard let node = tree.items[number] else { return }
            node.flags.remove(.needsListing)
            tree.note(node)
        }
    }

    /// Ends a running import that has nothing left to send. Returns whether it did.
    func endImport() -> Bool {
        let isDone = withTree { tree in !tree.pending.values.contains { $0.flags.contains(.importing) } }
        guard isDone else { return false }
        do {
            return try database.write { rows in
                guard try Meta.importing.read(from: rows) != nil else { return false }
                try Meta.importing.write(nil, to: rows)
                return true
            }
        } catch {
            return false  // It is tried again at the next pass.
        }
    }
}
