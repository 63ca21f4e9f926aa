internal import GRDB

extension Domain {
    /// The number of items read at a time.
    private static let batch = 256

    /// Passes the items that meet a condition to `body`, in the order of their numbers.
    func forEach(_ condition: String, _ body: ([ItemReport]) async throws -> Void) async throws {
        try replica.record()
        var paths = PathReader()
        var last: Int64 = 0
        while true {
            try Task.checkCancellation()
            let start = last
            let (reports, end, reader) = try replica.database.read { rows -> ([ItemReport], Int64?, PathReader) in
                let found = try ItemRow.after(start, condition, limit: Self.batch, in: rows)
                var reader = paths
                let reports = try found.map { row in
                    let (path, isPinned) = try reader.path(of: row, in: rows)
                    return ItemReport(row, path: path, isPinned: isPinned)
                }
                return (reports, found.last.map { Int64(bitPattern: $0.number) }, reader)
            }
            paths = reader
            guard let end else { return }
            last = end
            try await body(reports.map(withTransfer))
        }
    }
}

extension ItemRow {
    /// The rows after `number` that meet a condition, in the order of their numbers.
    static func after(_ number: Int64, _ condition: String, limit: Int, in rows: Rows) throws -> [ItemRow] {
        let statement = try rows.cachedStatement(
            sql: "SELECT * FROM item WHERE number > ? AND (\(condition)) ORDER BY number LIMIT ?")
        return try Row.fetchAll(statement, arguments: [number, limit]).map(ItemRow.init)
    }
}
