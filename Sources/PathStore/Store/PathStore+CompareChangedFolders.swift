internal import GRDB
internal import ReplicaModel

extension PathStore {
    /// A folder whose version has changed since it was compared.
    private struct Changed: Sendable {
        var folder: Int64
        var path: StoragePath
        /// The folder's version as reported before it was listed.
        var version: String
    }

    /// Descends from the root into the known folders whose versions have changed. A folder's new version is recorded
    /// only after everything below it was compared, so that skipped folders are visited again.
    /// - Parameter most: The maximum number of listings, once a folder is complete.
    /// - Returns: Whether nothing was skipped; false also if the root has no version.
    func compareChangedFolders(most: Int) async throws(RemoteStoreError) -> Bool {
        guard let version = try await present(.root)?.version else { return false }
        let isSame = try table.read { database in
            guard let root = try database.row(PathRow.root) else { return false }
            return try root.version == version || !database.isKnown(root)
        }
        if isSame { return true }
        var waiting = [Changed(folder: PathRow.root, path: .root, version: version)]
        var (seen, left): ([Changed], [StoragePath]) = ([], [])
        var (count, hasReachedAnEnd) = (0, false)
        // Depth first: even if only a few may be listed, some become complete.
        while !waiting.isEmpty, count < most || !hasReachedAnEnd {
            let now = Array(waiting.suffix(max(1, min(most - count, properties.concurrency))))
            waiting.removeLast(now.count)
            count += now.count
            let firm = try await compareFolders(now.map(\.folder))
            let known = Set(firm.map(\.path))
            left += now.map(\.path).filter { !known.contains($0) }
            seen += now.filter { known.contains($0.path) }
            let below = try changedFolders(in: firm)
            if below.isEmpty { hasReachedAnEnd = true }
            waiting += below
        }
        left += waiting.map(\.path)
        let complete = seen.filter { folder in !left.contains { $0.isWithin(folder.path) } }
        try table.write { database in
            for folder in complete {
                guard var row = try database.row(folder.folder), try database.path(of: row.id) == folder.path else {
                    continue
                }
                row.version = folder.version
                try database.put(row)
            }
        }
        return left.isEmpty
    }

    /// The folders among these that have to be visited.
    private func changedFolders(in folders: [FolderEntries]) throws(RemoteStoreError) -> [Changed] {
        try table.read { database in
            try folders.flatMap { folder in
                try folder.entries.values.compactMap { entry -> Changed? in
                    guard entry.kind == .folder, let name = entry.path.name, let version = entry.version,
                        let row = try database.row(in: folder.folder, name), row.kind == .folder,
                        row.version != version, try database.isKnown(row)
                    else { return nil }
                    return Changed(folder: row.id, path: entry.path, version: version)
                }.sorted { $0.path.description < $1.path.description }
            }
        }
    }
}

extension Database {
    /// Whether any entry of a folder is known.
    fileprivate func isKnown(_ folder: PathRow) throws -> Bool {
        if folder.isListed { return true }
        let statement = try cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM item WHERE parent = ?)")
        return try Bool.fetchOne(statement, arguments: [folder.id]) ?? false
    }
}
