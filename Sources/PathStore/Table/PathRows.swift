internal import Foundation
internal import GRDB
internal import ReplicaModel

/// Rows and changes, within a transaction.
extension Database {
    func row(_ id: Int64) throws -> PathRow? {
        try Row.fetchOne(cachedStatement(sql: "SELECT * FROM item WHERE id = ?"), arguments: [id]).map(PathRow.init)
    }

    func row(in parent: Int64, _ name: FileName) throws -> PathRow? {
        let statement = try cachedStatement(sql: "SELECT * FROM item WHERE parent = ? AND name = ?")
        return try Row.fetchOne(statement, arguments: [parent, name.blob]).map(PathRow.init)
    }

    func rows(in parent: Int64) throws -> [PathRow] {
        try Row.fetchAll(cachedStatement(sql: "SELECT * FROM item WHERE parent = ? ORDER BY name"), arguments: [parent])
            .map(PathRow.init)
    }

    /// The rows of a folder, ordered by name, a page at a time.
    func rows(in parent: Int64, after name: [UInt8]?, limit: Int) throws -> [PathRow] {
        let sql = "SELECT * FROM item WHERE parent = ? AND name > ? ORDER BY name LIMIT ?"
        let statement = try cachedStatement(sql: sql)
        return try Row.fetchAll(statement, arguments: [parent, (name ?? []).blob, limit]).map(PathRow.init)
    }

    func rows(where condition: String, _ arguments: StatementArguments) throws -> [PathRow] {
        try Row.fetchAll(self, sql: "SELECT * FROM item WHERE \(condition) ORDER BY id", arguments: arguments).map(
            PathRow.init)
    }

    /// The path of an item; nil if it, or a folder above it, is in limbo.
    func path(of id: Int64) throws -> StoragePath? {
        var names: [FileName] = []
        var here = id
        while here != PathRow.root {
            guard names.count < 10_000, let row = try row(here), row.parent != PathRow.limbo else { return nil }
            names.append(row.name)
            here = row.parent
        }
        return StoragePath(names.reversed())
    }

    /// Notes a change of an item.
    /// - Returns: The number of the change.
    @discardableResult
    func noteChange(of id: Int64) throws -> Int64 {
        try cachedStatement(sql: "INSERT OR REPLACE INTO change (id) VALUES (?)").execute(arguments: [id])
        return lastInsertedRowID
    }

    /// Writes a row that changed, under a new metadata version.
    /// - Parameter isOther: Whether the content may have changed since the row's token was assigned.
    func change(_ row: inout PathRow, isOther: Bool = false, isExact: Bool = true, epoch: String) throws {
        row.revision = try noteChange(of: row.id)
        if row.kind != .file {
            row.token = ""
        } else if isOther {
            row.token = Self.token(row, isExact: isExact, epoch: epoch)
        }
        try put(row)
    }

    /// A content version: the storage's own if it is unique to the content, so that it remains valid without this
    /// table.
    private static func token(_ row: PathRow, isExact: Bool, epoch: String) -> String {
        let version = row.version ?? "none"
        let short = version.utf8.count <= 80 ? version : hexadecimal(ContentHash.of(Array(version.utf8)))
        return isExact && row.version != nil ? short : "\(short)~\(epoch)\(row.revision)"
    }

    func put(_ row: PathRow) throws {
        let sql = "INSERT OR REPLACE INTO item VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
        try cachedStatement(sql: sql).execute(
            arguments: [
                row.id, row.parent, row.name.blob, row.kind.rawValue, row.target?.blob, row.version, row.size,
                row.token,
                row.revision, row.told.mode, row.told.modificationDate?.nanoseconds, row.meant.mode,
                row.meant.modificationDate?.nanoseconds, row.mark, row.identity, row.hash?.blob, row.seenAt,
                row.isListed,
            ])
    }

    /// Moves an item to limbo until its path is known. Its name there is its number, which is unique.
    func sendToLimbo(_ row: PathRow) throws {
        var row = row
        (row.parent, row.name) = (PathRow.limbo, FileName(String(row.id)))
        try put(row)
    }

    /// Deletes a row that is gone, with everything in it.
    func drop(_ id: Int64) throws {
        for child in try rows(in: id) { try drop(child.id) }
        try cachedStatement(sql: "DELETE FROM item WHERE id = ?").execute(arguments: [id])
        try cachedStatement(sql: "DELETE FROM leftOut WHERE folder = ?").execute(arguments: [id])
        try noteChange(of: id)
    }

    /// An identifier that no item has or had.
    func freshIdentifier(_ random: () -> Int64) throws -> Int64 {
        while true {
            let id = random()
            let sql = "SELECT EXISTS (SELECT 1 FROM item WHERE id = ?1) OR EXISTS (SELECT 1 FROM change WHERE id = ?1)"
            if try Bool.fetchOne(self, sql: sql, arguments: [id]) == false { return id }
        }
    }

    /// The number of the newest change.
    func newestChange() throws -> Int64 {
        try Int64.fetchOne(self, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'change'") ?? 0
    }
}

extension [UInt8] {
    /// As SQLite compares bytes: an empty array is no NULL.
    var blob: DatabaseValue { Data(self).databaseValue }
}

extension FileName {
    var blob: DatabaseValue { bytes.blob }
}

extension PathRow {
    init(_ row: Row) {
        self.init(
            id: row["id"], parent: row["parent"], name: FileName(bytes: [UInt8](row["name"] as Data)),
            kind: ItemKind(rawValue: UInt8(truncatingIfNeeded: row["kind"] as Int64)) ?? .file, size: row["size"],
            token: row["token"], revision: row["revision"])
        target = (row["target"] as Data?).map { [UInt8]($0) }
        version = row["version"]
        told = PathAttributes(
            mode: (row["toldMode"] as Int64?).map { UInt16(truncatingIfNeeded: $0) },
            modificationDate: (row["toldDate"] as Int64?).map { Timestamp(nanoseconds: $0) })
        meant = PathAttributes(
            mode: (row["meantMode"] as Int64?).map { UInt16(truncatingIfNeeded: $0) },
            modificationDate: (row["meantDate"] as Int64?).map { Timestamp(nanoseconds: $0) })
        mark = row["mark"]
        identity = row["identity"]
        hash = (row["hash"] as Data?).map { [UInt8]($0) }
        seenAt = row["seenAt"]
        isListed = row["isListed"]
    }
}
