internal import CLinux
internal import GRDB
internal import Glibc
internal import SystemPackage

/// Tracks what is known to be on the disks and would survive a power cut.
///
/// Every row is written with the number of the current round. A round ends when the tree and the store were synced
/// after its last row was made: from then on its rows describe what is on the disks. It does not matter when the
/// database itself reaches its disk, because each row contains its round.
struct Rounds {
    /// The current round. The numbers of a run are higher than those of all earlier runs.
    var present: Int64 = 1
    /// The first round of this run.
    var first: Int64 = 1
    /// Whether anything was recorded since the current round began.
    var isBehind = false
    /// The last round that was synced here, and in the store.
    var (here, inStore): (Int64, Int64) = (0, 0)
}

extension Replica {
    /// Ends the current round, if anything was recorded in it.
    /// - Returns: The round that will have ended once everything is synced; nil if all rounds are synced.
    func beginSync() throws -> Int64? {
        try record()
        return withTree { tree in
            if tree.rounds.isBehind {
                tree.rounds.present += 1
                tree.rounds.isBehind = false
            }
            let last = tree.rounds.present - 1
            return last > min(tree.rounds.here, tree.rounds.inStore) ? last : nil
        }
    }

    /// Syncs the filesystem of the tree, and notes the round as synced here.
    func syncTree(_ round: Int64) throws {
        guard withTree({ $0.rounds.here < round }) else { return }
        let file = try Errno.check(
            folders.tree.withPlatformString { Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        defer { Glibc.close(file) }
        try Errno.check(syncfs(file))
        let isNews = withTree { tree in
            guard tree.rounds.here < round else { return false }
            tree.rounds.here = round
            return true
        }
        if isNews { try database.write { try Meta.durableHere.raise(to: round, in: $0) } }
    }

    /// Notes a round as synced by the store.
    func noteStoreSynced(_ round: Int64) throws {
        let isNews = withTree { tree in
            guard tree.rounds.inStore < round else { return false }
            tree.rounds.inStore = round
            return true
        }
        guard isNews else { return }
        try database.write { rows in
            try Meta.durableInStore.raise(to: round, in: rows)
            try SupersededRows.remove(through: round, from: rows)
        }
    }

    /// Whether the local state of an item is known to be on the store's disk.
    func isConfirmed(_ number: ItemNumber) -> Bool {
        let (last, isHere) = withTree { ($0.rounds.inStore, $0.items[number]?.materialization != .dataless) }
        guard isHere else { return true }
        // A row that can't be read proves nothing.
        return (try? database.read { try ItemRow.round(of: number, in: $0) <= last }) ?? false
    }

    /// Whether everything recorded so far is on this disk.
    var isSyncedHere: Bool { withTree { !$0.rounds.isBehind && $0.rounds.here >= $0.rounds.present - 1 } }

    /// Whether something is recorded that may not be on the disks yet.
    var isBehindDisks: Bool {
        withTree { $0.rounds.isBehind || $0.rounds.present - 1 > min($0.rounds.here, $0.rounds.inStore) }
    }
}

extension Meta {
    /// Writes a number that never decreases.
    fileprivate func raise(to number: Int64, in rows: Rows) throws {
        let known = try read(from: rows).flatMap { Int64($0) } ?? 0
        if number > known { try write(String(number), to: rows) }
    }
}

extension ItemRow {
    /// Whether any item was recorded in a round that may not be on the disks.
    static func areUndurable(after round: Int64, in rows: Rows) throws -> Bool {
        try Bool.fetchOne(rows, sql: "SELECT EXISTS (SELECT 1 FROM item WHERE round > ?)", arguments: [round]) ?? true
    }

    fileprivate static func round(of number: ItemNumber, in rows: Rows) throws -> Int64 {
        let statement = try rows.cachedStatement(sql: "SELECT round FROM item WHERE number = ?")
        return try Int64.fetchOne(statement, arguments: [number.argument]) ?? .max
    }

    /// After a power cut, marks all items in doubt that were not known to be on a disk.
    static func doubtAll(after here: Int64, inStore: Int64, in rows: Rows) throws {
        for (flag, round) in [(NodeFlags.doubtful, here), (.unconfirmed, inStore)] {
            try rows.execute(
                sql: "UPDATE item SET flags = flags | ? WHERE round > ? AND \(RowCondition.isThere)",
                arguments: [Int64(flag.rawValue), round])
        }
    }
}
