internal import GRDB

/// The store's former states of items whose changes may not be on its disk yet: after a power cut there, it may return
/// to these states. Each row is the item before the change, except for `dirty`, which contains the changed fields.
enum SupersededRows {
    static let schema = """
        CREATE TABLE superseded AS SELECT * FROM item WHERE 0;
        CREATE INDEX supersededByIdentifier ON superseded (identifier);
        """

    static func write(_ row: ItemRow, to rows: Rows, round: Int64) throws {
        try row.write(to: rows, round: round, table: "superseded")
    }

    /// An item's states that were recorded before a round began, newest first.
    static func of(_ identifier: ItemIdentifier, before round: Int64, in rows: Rows) throws -> [ItemRow] {
        let statement = try rows.cachedStatement(
            sql: "SELECT * FROM superseded WHERE identifier = ? AND round < ? ORDER BY rowid DESC")
        return try Row.fetchAll(statement, arguments: [identifier.rawValue, round]).map { ItemRow($0) }
    }

    /// Removes states that the store can't return to because later ones are on its disk, except for items that have not
    /// been compared since a power cut.
    /// - Parameter round: The last round that has completed in the store.
    static func remove(through round: Int64, from rows: Rows) throws {
        try rows.execute(
            sql: """
                DELETE FROM superseded WHERE round <= ? AND NOT EXISTS (
                    SELECT 1 FROM item WHERE item.number = superseded.number AND item.flags & ? != 0)
                """, arguments: [round, Int64(NodeFlags.unconfirmed.rawValue)])
    }

    /// After a power cut, repeats the deletions that the store may have lost.
    static func repeatDeletions(in rows: Rows) throws {
        try rows.execute(
            sql: """
                UPDATE superseded SET flags = flags | ? WHERE flags & \(flags: .deleted) != 0;
                INSERT OR IGNORE INTO item SELECT * FROM superseded WHERE flags & \(flags: .deleted) != 0 AND NOT EXISTS (
                    SELECT 1 FROM item WHERE item.identifier = superseded.identifier);
                DELETE FROM superseded WHERE flags & \(flags: .deleted) != 0;
                """, arguments: [Int64(NodeFlags.unconfirmed.rawValue)])
    }
}
