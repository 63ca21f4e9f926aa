internal import CLinux
internal import GRDB
internal import Glibc
internal import SystemPackage

/// What is known to be on the disks, and would survive a power cut.
///
/// Every row is written with the round that is present. A round ends when the tree and the store were synced after its last
/// row was made: what these rows tell is true of the disks then. The database itself may be on its disk sooner or later: a
/// row says of itself which round it is of.
struct Rounds {
    /// Each run has numbers of its own, above those of earlier runs.
    var present: Int64 = 1
    /// The first of this run.
    var first: Int64 = 1
    /// Whether anything was recorded since the present round began.
    var isBehind = false
    /// The last round that has ended here, and that has in the store.
    var (here, inStore): (Int64, Int64) = (0, 0)
}

extension Replica {
    /// Ends the present round, unless nothing is to be done in it.
    /// - Returns: The round that is over when all is synced; nil when that is known of all rounds.
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

    /// Has the filesystem of the tree brought to its disk what it keeps in memory, and notes that it did.
    func syncTree(_ round: Int64) throws {
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

    /// Notes that the store has brought to its disk what it had.
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

    /// Whether what is here of an item is known to be on the store's disk.
    func isConfirmed(_ number: ItemNumber) -> Bool {
        let (last, isHere) = withTree { ($0.rounds.inStore, $0.items[number]?.materialization != .dataless) }
        guard isHere else { return true }
        // Of what cannot be read nothing is known.
        return (try? database.read { try ItemRow.round(of: number, in: $0) <= last }) ?? false
    }

    /// Whether something is recorded that may not be on the disks.
    var isBehindDisks: Bool {
        withTree { $0.rounds.isBehind || $0.rounds.present - 1 > min($0.rounds.here, $0.rounds.inStore) }
    }
}

extension Meta {
    /// Sets a number that only grows.
    fileprivate func raise(to number: Int64, in rows: Rows) throws {
        let known = try read(from: rows).flatMap { Int64($0) } ?? 0
        if number > known { try write(String(number), to: rows) }
    }
}

extension ItemRow {
    /// Whether any item is recorded in a round that may not be on the disks.
    static func areUndurable(after round: Int64, in rows: Rows) throws -> Bool {
        try Bool.fetchOne(rows, sql: "SELECT EXISTS (SELECT 1 FROM item WHERE round > ?)", arguments: [round]) ?? true
    }

    fileprivate static func round(of number: ItemNumber, in rows: Rows) throws -> Int64 {
        let statement = try rows.cachedStatement(sql: "SELECT round FROM item WHERE number = ?")
        return try Int64.fetchOne(statement, arguments: [number.argument]) ?? .max
    }

    /// After a power cut: has everything doubted that was not known to be on a disk.
    static func doubtAll(after here: Int64, inStore: Int64, in rows: Rows) throws {
        for (flag, round) in [(NodeFlags.doubtful, here), (.unconfirmed, inStore)] {
            try rows.execute(
                sql: "UPDATE item SET flags = flags | ? WHERE round > ? AND flags & 1 = 0",
                arguments: [Int64(flag.rawValue), round])
        }
    }
}
