internal import GRDB
package import SystemPackage

extension Domain {
    /// The unresolved conflicts, oldest first.
    /// - Throws: The database's error.
    package func conflicts() throws -> [Conflict] {
        try replica.record()
        return try replica.database.read { rows in
            var paths = PathReader()
            let copies = try ItemRow.conflicts(in: rows)
            return try copies.map { copy in
                let original = try copy.conflict.flatMap { try ItemRow.of($0.original, in: rows) }
                let isThere = original.map { !$0.flags.contains(.deleted) } ?? false
                return Conflict(
                    original: try isThere ? original.map { try paths.path(of: $0, in: rows).0 } : nil,
                    copy: try paths.path(of: copy, in: rows).0,
                    date: Timestamp(secondsSince1970: copy.conflict?.date ?? 0))
            }.sorted { $0.date < $1.date }
        }
    }

    /// Resolves a conflict.
    /// - Parameter path: The path of the copy, or of the original, which then means its newest copy if only one can be
    ///   kept.
    /// - Throws: ENOENT; EINVAL when there is no conflict at the path; EIO when the database can't be used.
    package func resolve(_ path: [FileName], keep side: ConflictSide) async throws(Errno) {
        let held = try await hold(path, listing: false)
        defer { release(held) }
        let copies = try copies(of: held.number)
        guard let newest = copies.last else { throw .invalidArgument }
        do throws(ReplicaError) {
            switch side {
            case .both: for copy in copies { replica.settleConflict(copy) }
            case .remote: for copy in copies { try replica.remove(copy) }
            case .local: try replica.keepConflict(newest)
            }
        } catch {
            throw error.errno
        }
        wakeSignal.signal()
    }

    /// The conflict copies that an item is or has, oldest first.
    private func copies(of number: ItemNumber) throws(Errno) -> [ItemNumber] {
        let (isCopy, identifier) = replica.withTree { tree -> (Bool, ItemIdentifier?) in
            guard let node = tree.items[number] else { return (false, nil) }
            return (node.flags.contains(.conflict), node.base?.identifier)
        }
        guard !isCopy else { return [number] }
        do {
            try replica.record()
            let rows = try replica.database.read { try ItemRow.conflicts(in: $0) }
            return rows.filter { $0.conflict?.original == identifier && identifier != nil }
                .sorted { ($0.conflict?.date ?? 0) < ($1.conflict?.date ?? 0) }.map { ItemNumber($0.number) }
        } catch {
            throw Errno(state: error)
        }
    }
}

extension ItemRow {
    /// All conflict copies.
    static func conflicts(in rows: Rows) throws -> [ItemRow] {
        try Row.fetchAll(rows, sql: "SELECT * FROM item WHERE \(RowCondition.isConflict)").map(ItemRow.init)
    }
}
