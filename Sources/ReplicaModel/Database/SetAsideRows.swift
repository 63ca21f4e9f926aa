internal import GRDB

/// The items that the store deleted recently, in their former state in the tree; their files are in
/// ``StateFolders/deleted``. Written in the order of deletion: a folder after its entries.
enum SetAsideRows {
    /// The table, and an index to find deletions whose place has another file in the store.
    static let schema = """
        CREATE TABLE aside AS SELECT * FROM item WHERE 0;
        CREATE UNIQUE INDEX asideByNumber ON aside (number);
        ALTER TABLE incoming ADD COLUMN parent TEXT;
        ALTER TABLE incoming ADD COLUMN name BLOB;
        CREATE INDEX incomingByPlace ON incoming (parent, name) WHERE parent IS NOT NULL;
        """

    static func write(_ row: ItemRow, to rows: Rows, round: Int64) throws {
        try row.write(to: rows, round: round, table: "aside")
    }

    /// All items, each folder before its former entries.
    static func all(in rows: Rows) throws -> [ItemRow] {
        try Row.fetchAll(rows, sql: "SELECT * FROM aside ORDER BY rowid DESC").map { ItemRow($0) }
    }

    static func remove(_ number: ItemNumber, from rows: Rows) throws {
        let statement = try rows.cachedStatement(sql: "DELETE FROM aside WHERE number = ?")
        try statement.execute(arguments: [number.argument])
    }

    static func removeAll(from rows: Rows) throws { try rows.execute(sql: "DELETE FROM aside") }

    static func count(in rows: Rows) throws -> Int { try Int.fetchOne(rows, sql: "SELECT count(*) FROM aside") ?? 0 }
}

extension DeletionCounts {
    /// Matches a deletion that only appears to be one: of an item whose file took another item's place, or of a file
    /// whose name belongs to another item in the store now.
    private static let isReplaced = """
        (incoming.identifier LIKE 'replica:stale-%' OR item.kind != \(kind: .folder) AND EXISTS (
            SELECT 1 FROM item AS folder JOIN incoming AS other
                ON other.parent = folder.identifier AND other.name = item.baseName
            WHERE folder.number = item.baseParent))
        """

    /// The items of the deletions, except reimported and deleted items, and items whose state has to be requested
    /// first.
    private static let named = """
        incoming JOIN item ON item.identifier = incoming.identifier
        WHERE incoming.item IS NULL AND incoming.asked >= 0 AND item.flags & \(flags: [.reimport, .deleted]) = 0
        """

    /// All items that the deletions remove, including the contents of folders.
    private static let gone = """
        WITH RECURSIVE gone(number) AS (
            SELECT item.number FROM \(named) AND NOT \(isReplaced)
            UNION SELECT item.number FROM item JOIN gone ON item.parent = gone.number
            WHERE item.flags & \(flags: .deleted) = 0 AND item.number != gone.number)
        """

    /// The items that are counted as ``noted``, each folder before its entries.
    static func numbers(in rows: Rows) throws -> [ItemNumber] {
        try Int64.fetchAll(rows, sql: "\(gone) SELECT number FROM gone")
            .map { ItemNumber(UInt64(bitPattern: $0)) }
    }

    /// Whether a deletion is noted of the item or of a folder above it, or asked about.
    static func include(_ number: ItemNumber, in rows: Rows) throws -> Bool {
        guard try Incoming.areThere(in: rows) else { return false }
        let statement = try rows.cachedStatement(
            sql: """
                WITH RECURSIVE above(number, identifier, parent) AS (
                    SELECT number, identifier, parent FROM item WHERE number = ?
                    UNION SELECT item.number, item.identifier, item.parent FROM item JOIN above ON item.number = above.parent)
                SELECT EXISTS (SELECT 1 FROM above JOIN incoming ON incoming.identifier = above.identifier
                    WHERE incoming.item IS NULL)
                """)
        return try Bool.fetchOne(statement, arguments: [number.argument]) ?? false
    }

    /// Counts the noted deletions and the items set aside.
    /// - Parameter firstLater: ``DeletionWindow/firstLater``.
    static func read(firstLater: UInt64, from rows: Rows) throws -> DeletionCounts {
        var counts = DeletionCounts()
        let later = ItemNumber(firstLater).argument
        let noted = try Row.fetchOne(
            rows, sql: "\(gone) SELECT count(*) AS noted, coalesce(sum(number < ?), 0) AS former FROM gone",
            arguments: [later])
        (counts.noted, counts.notedFormer) = (noted?["noted"] ?? 0, noted?["former"] ?? 0)
        counts.items = try ItemCounts.read(from: rows).items
        let range = try Row.fetchOne(
            rows,
            sql: "SELECT min(sequence) AS oldest, max(sequence) AS newest FROM incoming"
                + " WHERE item IS NULL AND asked >= 0")
        (counts.oldest, counts.newest) = (range?["oldest"] ?? 0, range?["newest"] ?? 0)
        counts.aside = try SetAsideRows.count(in: rows)
        // An item that the store has again, under its identifier or in its place, is not gone.
        let applied = try Int.fetchOne(
            rows,
            sql: """
                SELECT count(*) FROM aside WHERE number < ?
                AND NOT EXISTS (SELECT 1 FROM item WHERE item.identifier = aside.identifier
                    AND item.flags & \(flags: .deleted) = 0)
                AND NOT EXISTS (SELECT 1 FROM item WHERE item.parent = aside.parent AND item.name = aside.name
                    AND item.identifier IS NOT NULL AND item.flags & \(flags: .deleted) = 0)
                """, arguments: [later])
        counts.applied = applied ?? 0
        return counts
    }

    /// The noted deletions that only appear to be deletions.
    static func replaced(in rows: Rows) throws -> Set<ItemIdentifier> {
        let found = try String.fetchAll(
            rows, sql: "SELECT incoming.identifier FROM \(named) AND \(isReplaced)")
        return Set(found.map { ItemIdentifier($0) })
    }
}
