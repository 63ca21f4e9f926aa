internal import Foundation
internal import GRDB
internal import ReplicaModel

/// Intents, within a transaction.
extension Database {
    func begin(_ intent: Intent) throws -> Int64 {
        let sql =
            "INSERT INTO intent (deed, item, parent, name, kind, target, size, hash, mark, base) VALUES (?,?,?,?,?,?,?,?,?,?)"
        try cachedStatement(sql: sql).execute(
            arguments: [
                intent.operation.rawValue, intent.item, intent.parent, intent.name.blob, intent.kind.rawValue,
                intent.target?.blob, intent.size, intent.hash?.blob, intent.mark, intent.base,
            ])
        return lastInsertedRowID
    }

    func end(_ intent: Intent) throws {
        try cachedStatement(sql: "DELETE FROM intent WHERE number = ?").execute(arguments: [intent.number])
    }

    func intents(of item: Int64) throws -> [Intent] {
        let sql = "SELECT * FROM intent WHERE item = ? ORDER BY number"
        return try Row.fetchAll(cachedStatement(sql: sql), arguments: [item]).map(Intent.init)
    }

    /// The intents of creates from a template, the newest first.
    func intents(marked mark: String) throws -> [Intent] {
        let sql = "SELECT * FROM intent WHERE mark = ? ORDER BY number DESC"
        return try Row.fetchAll(cachedStatement(sql: sql), arguments: [mark]).map(Intent.init)
    }

    /// The items of unanswered calls.
    func itemsInDoubt() throws -> [Int64] {
        try Int64.fetchAll(self, sql: "SELECT DISTINCT item FROM intent WHERE item != 0 ORDER BY item")
    }
}

extension Intent {
    fileprivate init(_ row: Row) {
        self.init(operation: Operation(rawValue: row["deed"]) ?? .set)
        number = row["number"]
        item = row["item"]
        parent = row["parent"]
        name = FileName(bytes: [UInt8](row["name"] as Data))
        kind = ItemKind(rawValue: UInt8(truncatingIfNeeded: row["kind"] as Int64)) ?? .file
        target = (row["target"] as Data?).map { [UInt8]($0) }
        size = row["size"]
        hash = (row["hash"] as Data?).map { [UInt8]($0) }
        mark = row["mark"]
        base = row["base"]
    }
}
