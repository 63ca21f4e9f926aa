internal import GRDB
internal import ReplicaModel

/// A new entry at a path.
struct Arrival: Sendable {
    var parent: Int64
    var entry: PathEntry
    var path: StoragePath { entry.path }

    /// The properties by which a renamed file is matched; nil for entries that can't be matched.
    var likeness: Likeness? {
        guard entry.kind == .file, entry.size > 0, let version = entry.version else { return nil }
        return Likeness(version: version, size: entry.size)
    }
}

struct Likeness: Hashable {
    var version: String
    var size: Int64
}

extension PathStore {
    /// The missing item that a new entry is.
    func knownElsewhere(
        _ arrival: Arrival, isOnly: Bool
    ) async throws(RemoteStoreError) -> (row: PathRow, isByLikeness: Bool)? {
        if let identity = arrival.entry.identity {
            let rows = try table.read { try $0.rows(where: "identity = ?", [identity]) }
            for row in rows where row.isSame(as: arrival.entry) {
                guard let former = try path(of: row.id) else { return (row, false) }
                // An additional name of the same file is another item.
                let there = try await present(former)
                if there?.identity != identity { return (row, false) }
            }
            return nil
        }
        let limbo = try table.read { try $0.rows(where: "parent = ?", [PathRow.limbo]) }
        if let mark = arrival.entry.attributes.mark, let row = limbo.first(where: { $0.mark == mark }) {
            return row.isSame(as: arrival.entry) ? (row, false) : nil
        }
        guard isOnly, let likeness = arrival.likeness else { return nil }
        let alike = limbo.filter { row in
            row.kind == .file && row.size == likeness.size && row.version == likeness.version
        }
        return alike.count == 1 ? (alike[0], true) : nil
    }
}
