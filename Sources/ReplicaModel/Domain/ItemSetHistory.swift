internal import GRDB

/// The members of an ``ItemSet`` at the last query, and when each came or left. Only kept for callers that query: nothing is
/// written while an item changes, and a query costs a comparison of the set with what was noted.
struct ItemSetHistory {
    /// A point in the history: a comparison, and how many of its changes were returned.
    struct Point {
        var sequence: Int64
        var number: Int64

        init(sequence: Int64, number: Int64) {
            self.sequence = sequence
            self.number = number
        }

        /// Nil for a value that was never an ``anchor``.
        init?(_ anchor: SyncAnchor) {
            let parts = String(decoding: anchor.bytes, as: UTF8.self).split(separator: ".").map { Int64($0) }
            guard parts.count == 2, let sequence = parts[0], let number = parts[1] else { return nil }
            (self.sequence, self.number) = (sequence, number)
        }

        var anchor: SyncAnchor { SyncAnchor("\(sequence).\(number)") }
    }

    let set: ItemSet
    /// For how many comparisons with changes the departed members are remembered.
    let longest: Int64

    init(_ set: ItemSet, longest: Int64 = 10_000) {
        (self.set, self.longest) = (set, longest)
    }

    /// The table; migration "setHistory". Its `shown` is now `inodeNumber`.
    static let schema = """
        CREATE TABLE setHistory (
            kind INTEGER NOT NULL, number INTEGER NOT NULL, shown INTEGER NOT NULL, identifier TEXT,
            sequence INTEGER NOT NULL, isIn INTEGER NOT NULL, PRIMARY KEY (kind, number)
        ) WITHOUT ROWID;
        CREATE INDEX setHistoryBySequence ON setHistory (kind, sequence, number);
        CREATE TABLE setLook (kind INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, forgotten INTEGER NOT NULL);
        """

    /// Makes all issued anchors expire; migration "setHistoryFromAnywhere".
    static let startAnew = "DELETE FROM setHistory; DELETE FROM setLook"

    /// The number of changes returned at a time.
    private static let batch = 256

    /// Records the members that entered or left since the last query.
    /// - Returns: The number of this comparison, or of the last one if nothing changed.
    func catchUp(in rows: Rows) throws -> Int64 {
        let kind = set.rawValue
        let last = try lastComparison(in: rows)?.last ?? begin(in: rows)
        let next = last + 1
        try rows.execute(
            sql: """
                UPDATE setHistory SET isIn = 0, sequence = ? WHERE kind = ? AND isIn = 1
                    AND number NOT IN (SELECT number FROM item WHERE \(set.condition))
                """, arguments: [next, kind])
        var changes = rows.changesCount
        try rows.execute(
            sql: """
                INSERT OR REPLACE INTO setHistory
                SELECT ?, number, inodeNumber, identifier, ?, 1 FROM item WHERE (\(set.condition))
                    AND number NOT IN (SELECT number FROM setHistory WHERE kind = ? AND isIn = 1)
                """, arguments: [kind, next, kind])
        changes += rows.changesCount
        guard changes > 0 else { return last }
        try rows.execute(sql: "UPDATE setLook SET sequence = ? WHERE kind = ?", arguments: [next, kind])
        try forget(before: next - longest, in: rows)
        return next
    }

    /// A batch of the changes after a point. Compares again once all changes noted before have been returned.
    func changes(after start: Point, in rows: Rows) throws -> ItemSetChanges {
        guard let (last, forgotten) = try lastComparison(in: rows), start.sequence >= forgotten, start.sequence <= last
        else {
            throw RemoteStoreError.syncAnchorExpired
        }
        var lines = try lines(after: start, in: rows)
        if lines.count < Self.batch {
            _ = try catchUp(in: rows)
            lines = try self.lines(after: start, in: rows)
        }
        var paths = PathReader()
        var changes = ItemSetChanges(
            entered: [], left: [], anchor: start.anchor, moreComing: lines.count == Self.batch)
        for line in lines {
            let row = try ItemRow.of(ItemNumber(UInt64(bitPattern: line.number)), in: rows)
            if line.isIn, let row {
                let (path, isPinned) = try paths.path(of: row, in: rows)
                changes.entered.append(ItemReport(row, path: path, isPinned: isPinned))
            } else {
                var departure = line.departure
                if let row, !row.flags.contains(.deleted) { departure.path = try paths.path(of: row, in: rows).0 }
                changes.left.append(departure)
            }
            changes.anchor = Point(sequence: line.sequence, number: line.number).anchor
        }
        return changes
    }

    private struct Line {
        var number: Int64
        var sequence: Int64
        var isIn: Bool
        var departure: ItemSetChanges.Departure

        init(_ row: Row) {
            number = row["number"]
            sequence = row["sequence"]
            isIn = row["isIn"]
            let identifier: String? = row["identifier"]
            departure = ItemSetChanges.Departure(
                number: ItemNumber(UInt64(bitPattern: row["inodeNumber"])),
                identifier: identifier.map { ItemIdentifier($0) })
        }
    }

    private func lines(after start: Point, in rows: Rows) throws -> [Line] {
        try Row.fetchAll(
            rows,
            sql: """
                SELECT * FROM setHistory WHERE kind = ? AND (sequence, number) > (?, ?)
                ORDER BY sequence, number LIMIT ?
                """, arguments: [set.rawValue, start.sequence, start.number, Self.batch]
        ).map { Line($0) }
    }

    /// The number of the last comparison, and up to which number departures were forgotten; nil if there was none.
    private func lastComparison(in rows: Rows) throws -> (last: Int64, forgotten: Int64)? {
        try Row.fetchOne(rows, sql: "SELECT * FROM setLook WHERE kind = ?", arguments: [set.rawValue])
            .map { ($0["sequence"], $0["forgotten"]) }
    }

    /// Starts the numbering at a number that other histories don't use, so that their anchors are not valid here.
    private func begin(in rows: Rows) throws -> Int64 {
        let number = Int64.random(in: 0..<1 << 60)
        try rows.execute(sql: "INSERT INTO setLook VALUES (?, ?, ?)", arguments: [set.rawValue, number, number])
        return number
    }

    private func forget(before sequence: Int64, in rows: Rows) throws {
        let (kind, oldest) = (set.rawValue, sequence)
        try rows.execute(
            sql: "DELETE FROM setHistory WHERE kind = ? AND isIn = 0 AND sequence <= ?", arguments: [kind, oldest])
        guard rows.changesCount > 0 else { return }
        try rows.execute(sql: "UPDATE setLook SET forgotten = ? WHERE kind = ?", arguments: [oldest, kind])
    }
}
