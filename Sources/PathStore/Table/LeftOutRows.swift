internal import GRDB
internal import ReplicaModel

/// What listings leave out, by folder, within a transaction.
extension Database {
    /// Notes what the newest listing of a folder leaves out.
    func noteLeftOut(_ names: LeftOutNames, in folder: Int64) throws {
        guard let example = names.example else {
            try cachedStatement(sql: "DELETE FROM leftOut WHERE folder = ?").execute(arguments: [folder])
            return
        }
        try cachedStatement(sql: "INSERT OR REPLACE INTO leftOut VALUES (?, ?, ?)")
            .execute(arguments: [folder, names.count, example])
    }

    /// What is left out of all listed folders.
    func leftOut() throws -> LeftOutItems? {
        let sql = "SELECT folder, example, SUM(count) OVER () AS total FROM leftOut ORDER BY folder LIMIT 1"
        guard let row = try Row.fetchOne(cachedStatement(sql: sql)) else { return nil }
        let example: String = row["example"]
        // The folder may be missing at the moment.
        let names = try path(of: row["folder"])?.names.map(\.description) ?? []
        return LeftOutItems(count: row["total"], example: (names + [example]).joined(separator: "/"))
    }
}
