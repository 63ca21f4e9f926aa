internal import GRDB

/// Totals, maintained by triggers, so that a query reads one row.
struct ItemCounts: Hashable {
    /// All items except the root.
    var items = 0
    /// Bytes of all files, local or not.
    var bytes: Int64 = 0
    /// Bytes of local content.
    var here: Int64 = 0
    /// Bytes of the contents to be sent.
    var unsentBytes: Int64 = 0
    var errors = 0
    var conflicts = 0
    /// Devices, sockets and fifos, and what the store can't keep or excludes.
    var localOnly = 0

    /// What a row adds to each count. The triggers of existing databases have these terms: a change takes a migration.
    private static let terms = [
        ("items", "(@.flags & \(flags: .deleted) = 0 AND @.number != 1)"),
        ("bytes", "(@.kind = \(kind: .file) AND @.flags & \(flags: [.deleted, .special]) = 0) * @.size"),
        ("here", "@.here"),
        (
            "unsentBytes",
            """
            (@.kind = \(kind: .file) AND @.dirty & \(fields: .contents) = \(fields: .contents) \
            AND @.flags & \(flags: [.deleted, .excluded, .special, .refused]) = 0) * @.size
            """
        ),
        ("errors", "(@.errorCode IS NOT NULL)"),
        ("conflicts", "(@.flags & \(flags: [.conflict, .deleted]) = \(flags: .conflict))"),
        (
            "localOnly",
            "(@.flags & \(flags: .deleted) = 0 AND @.flags & \(flags: [.special, .excluded]) != 0)"
        ),
    ]

    /// The table and its triggers.
    static var schema: String {
        let columns = terms.map { "\($0.0) INTEGER NOT NULL" }.joined(separator: ", ")
        let zeros = terms.map { _ in "0" }.joined(separator: ", ")
        return """
            CREATE TABLE counts (\(columns));
            INSERT INTO counts VALUES (\(zeros));
            \(triggers)
            """
    }

    /// For a database whose triggers count only special files as `localOnly`.
    static var countOfWhatStays: String {
        let term = terms.last?.1.replacing("@", with: "item") ?? ""
        return """
            DROP TRIGGER countINSERT; DROP TRIGGER countDELETE; DROP TRIGGER countUPDATE;
            UPDATE counts SET localOnly = (SELECT count(*) FROM item WHERE \(term));
            \(triggers)
            \(triggerOfChanges)
            """
    }

    private static var triggers: String {
        func trigger(_ event: String, _ row: String, _ sign: String) -> String {
            let changes = terms.map { name, term in
                "\(name) = \(name) \(sign) \(term.replacing("@", with: row))"
            }.joined(separator: ", ")
            return """
                CREATE TRIGGER count\(event) AFTER \(event) ON item BEGIN UPDATE counts SET \(changes); END;
                """
        }
        return trigger("INSERT", "NEW", "+") + trigger("DELETE", "OLD", "-")
    }

    /// The trigger for rows that are updated in place; most updates change no count.
    static var triggerOfChanges: String {
        let changes = terms.map { name, term in
            "\(name) = \(name) + \(term.replacing("@", with: "NEW")) - \(term.replacing("@", with: "OLD"))"
        }.joined(separator: ", ")
        let isChanged = terms.map { _, term in
            "\(term.replacing("@", with: "NEW")) != \(term.replacing("@", with: "OLD"))"
        }.joined(separator: " OR ")
        return """
            CREATE TRIGGER countUPDATE AFTER UPDATE ON item WHEN \(isChanged)
            BEGIN UPDATE counts SET \(changes); END;
            """
    }

    static func read(from rows: Rows) throws -> ItemCounts {
        guard let row = try Row.fetchOne(rows, sql: "SELECT * FROM counts") else { return ItemCounts() }
        return ItemCounts(
            items: row["items"], bytes: sum("bytes", row), here: sum("here", row), unsentBytes: sum("unsentBytes", row),
            errors: row["errors"], conflicts: row["conflicts"], localOnly: row["localOnly"])
    }

    /// A sum of sizes. SQLite returns a floating-point number for a sum of more than 64 bits, which two sparse files
    /// can reach.
    private static func sum(_ column: String, _ row: Row) -> Int64 {
        switch (row[column] as DatabaseValue).storage {
        case .int64(let sum): sum
        case .double(let sum): Int64(exactly: sum.rounded()) ?? (sum < 0 ? .min : .max)
        default: 0
        }
    }
}
