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

/// Finds the paths of rows, looking up each folder once.
struct PathReader {
    private var known: [ItemNumber: (path: [FileName], isPinned: Bool)] = [.root: ([], false)]

    /// The path of a row and whether it is kept here.
    mutating func path(of row: ItemRow, in rows: Rows) throws -> ([FileName], Bool) {
        let isGone = row.flags.contains(.deleted)
        let parent = isGone ? row.base?.parent ?? row.sent?.parent ?? .root : ItemNumber(row.parent)
        guard row.number != ItemNumber.root.rawValue else { return ([], row.pin == .pinned) }
        let above = try folder(parent, in: rows, depth: 0)
        let name = isGone ? row.base?.name ?? row.name : row.name
        return (above.path + [name], row.pin == .inherited ? above.isPinned : row.pin == .pinned)
    }

    private mutating func folder(
        _ number: ItemNumber, in rows: Rows, depth: Int
    ) throws -> (path: [FileName], isPinned: Bool) {
        if number != .root, let known = known[number] { return known }
        // A database that is behind the tree may contain a cycle for a moment.
        guard depth < 4096, let row = try ItemRow.of(number, in: rows) else { return ([], false) }
        if known.count > Self.mostKnown { known.removeAll() }
        let found: (path: [FileName], isPinned: Bool)
        if number == .root {
            found = ([], row.pin == .pinned)
        } else {
            let above = try folder(ItemNumber(row.parent), in: rows, depth: depth + 1)
            found = (above.path + [row.name], row.pin == .inherited ? above.isPinned : row.pin == .pinned)
        }
        known[number] = found
        return found
    }

    private static let mostKnown = 10_000
}

extension ItemRow {
    /// The rows after `number` that meet a condition, in the order of their numbers.
    static func after(_ number: Int64, _ condition: String, limit: Int, in rows: Rows) throws -> [ItemRow] {
        let statement = try rows.cachedStatement(
            sql: "SELECT * FROM item WHERE number > ? AND (\(condition)) ORDER BY number LIMIT ?")
        return try Row.fetchAll(statement, arguments: [number, limit]).map(ItemRow.init)
    }
}
