internal import CLinux
internal import GRDB
internal import Glibc
internal import SystemPackage

/// Tracks what is known to be on the disks and would survive a power cut.
///
/// Every row is written with the number of the current round. A round ends when the tree and the store were synced
/// after its last row was made: from then on its rows describe what is on the disks. It does not matter when the
/// database itself reaches its disk, because each row contains its round.
struct DurabilityRounds {
    /// The current round. The numbers of a run are higher than those of all earlier runs.
    private(set) var present: Int64
    /// The first round of this run.
    let first: Int64
    /// The last round that was synced here, and in the store.
    private(set) var (here, inStore): (Int64, Int64)
    /// Whether a row was recorded in the current round that a power cut may revert.
    private var hasRows = false

    /// - Parameter first: The first round of this run.
    init(first: Int64 = 1, here: Int64 = 0, inStore: Int64 = 0) {
        (self.first, present, self.here, self.inStore) = (first, first, here, inStore)
    }

    /// The last round that has ended.
    private var ended: Int64 { present - 1 }
    /// Whether a round that has ended is not synced in both places.
    private var isUnsynced: Bool { ended > min(here, inStore) }
    /// Whether something is recorded that may not be on the disks yet.
    var isBehindDisks: Bool { hasRows || isUnsynced }

    /// Whether everything recorded so far is on the local disk.
    var isSyncedHere: Bool { !hasRows && here >= ended }

    mutating func noteRow() { hasRows = true }

    /// Ends the current round, if a row was recorded in it.
    /// - Returns: The last round that has ended; nil if all of them are synced.
    mutating func end() -> Int64? {
        if hasRows { (present, hasRows) = (present + 1, false) }
        return isUnsynced ? ended : nil
    }

    /// Notes a round as synced here.
    /// - Returns: Whether that was not known.
    mutating func noteSyncedHere(_ round: Int64) -> Bool { Self.raise(&here, to: round) }

    /// Notes a round as synced in the store.
    /// - Returns: Whether that was not known.
    mutating func noteSyncedInStore(_ round: Int64) -> Bool { Self.raise(&inStore, to: round) }

    private static func raise(_ known: inout Int64, to round: Int64) -> Bool {
        guard known < round else { return false }
        known = round
        return true
    }
}

extension Replica {
    /// Ends the current round, if anything was recorded in it.
    /// - Returns: The round that will have ended once everything is synced; nil if all rounds are synced.
    func beginSync() throws -> Int64? {
        try record()
        return withTree { $0.unrecorded.rounds.end() }
    }

    /// Syncs the filesystem of the tree, and notes the round as synced here.
    func syncTree(_ round: Int64) throws {
        guard withTree({ $0.unrecorded.rounds.here < round }) else { return }
        let file = try Errno.check(
            folders.tree.withPlatformString { Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
        defer { Glibc.close(file) }
        try Errno.check(syncfs(file))
        guard withTree({ $0.unrecorded.rounds.noteSyncedHere(round) }) else { return }
        try database.write { try Meta.durableHere.raise(to: round, in: $0) }
    }

    /// Notes a round as synced by the store.
    func noteStoreSynced(_ round: Int64) throws {
        guard withTree({ $0.unrecorded.rounds.noteSyncedInStore(round) }) else { return }
        try database.write { rows in
            try Meta.durableInStore.raise(to: round, in: rows)
            try SupersededRows.remove(through: round, from: rows)
        }
    }

    /// Whether the local state of an item is known to be on the store's disk.
    func isConfirmed(_ number: ItemNumber) -> Bool {
        let (last, isHere) = withTree { ($0.unrecorded.rounds.inStore, $0.items[number]?.materialization != .dataless) }
        guard isHere else { return true }
        // A row that can't be read proves nothing.
        return (try? database.read { try ItemRow.round(of: number, in: $0) <= last }) ?? false
    }

    /// Whether everything recorded so far is on this disk.
    var isSyncedHere: Bool { withTree { $0.unrecorded.rounds.isSyncedHere } }

    /// Whether something is recorded that may not be on the disks yet.
    var isBehindDisks: Bool { withTree { $0.unrecorded.rounds.isBehindDisks } }
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
