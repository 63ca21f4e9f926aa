internal import GRDB
internal import ReplicaModel
internal import Threads

extension PathStore {
    /// Compares listed folders with the table. A new entry is matched by its identity, its mark, or if it is the only
    /// one with its version and size; otherwise it gets a new identifier. A missing item goes to limbo once its absence
    /// is proven.
    /// - Parameter comparison: When the listings began: entries used by calls since then are skipped.
    func compare(_ folders: [FolderEntries], since comparison: Int) async throws(RemoteStoreError) {
        let root = folders.first { $0.folder == PathRow.root }
        if let root { try await expectRoot(in: root.entries) }
        var arrivals: [Arrival] = []
        var missing: [(row: PathRow, path: StoragePath)] = []
        try table.write { database in
            for folder in folders {
                guard var row = try database.row(folder.folder), try database.path(of: row.id) == folder.path else {
                    continue
                }
                if !row.isListed {
                    row.isListed = true
                    try database.put(row)
                }
                try database.noteLeftOut(folder.listing.leftOut, in: folder.folder)
                var left = folder.entries
                for child in try database.rows(in: folder.folder) {
                    let path = folder.path.appending(child.name)
                    let entry = left.removeValue(forKey: child.name)
                    if locks.isStale(path, since: comparison) { continue }
                    guard let entry else {
                        missing.append((child, path))
                        continue
                    }
                    if child.isSame(as: entry) {
                        _ = try observe(entry, as: child, database)
                    } else {
                        // Another item is at its path: that proves its absence.
                        try database.sendToLimbo(child)
                        left[child.name] = entry
                    }
                }
                arrivals += left.values.filter { !locks.isStale($0.path, since: comparison) }
                    .map { Arrival(parent: folder.folder, entry: $0) }
            }
        }
        try await sendMissing(missing, since: comparison)
        try await arrive(arrivals.sorted { $0.path.description < $1.path.description }, since: comparison)
        if root != nil { try noteRoot() }
    }

    /// A listing may lag, or be older than the loss of the storage: only a second request proves that something is
    /// gone, and only if the root exists after it.
    private func sendMissing(
        _ missing: [(row: PathRow, path: StoragePath)], since comparison: Int
    ) async throws(RemoteStoreError) {
        let found = Locked<[Int64: PathEntry]>([:], rank: .innermost)
        try await inParallel(missing) { (one) async throws(RemoteStoreError) in
            guard let entry = try await self.present(one.path) else { return }
            found.withLock { $0[one.row.id] = entry }
        }
        let there = found.withLock { $0 }
        if there.count < missing.count { try await expectRoot(isFresh: true) }
        for one in missing where !locks.isStale(one.path, since: comparison) {
            try table.write { database in
                guard let row = try database.row(one.row.id), try database.path(of: row.id) == one.path else { return }
                if let entry = there[row.id], row.isSame(as: entry) {
                    _ = try observe(entry, as: row, database)
                } else {
                    try database.sendToLimbo(row)
                }
            }
        }
    }

    private func arrive(_ arrivals: [Arrival], since comparison: Int) async throws(RemoteStoreError) {
        let counts = Dictionary(arrivals.compactMap(\.likeness).map { ($0, 1) }, uniquingKeysWith: +)
        for arrival in arrivals {
            let isOnly = arrival.likeness.map { counts[$0] == 1 } ?? false
            let known = try await knownElsewhere(arrival, isOnly: isOnly)
            if locks.isStale(arrival.path, since: comparison) { continue }
            try table.write { database in
                guard try database.path(of: arrival.parent) == arrival.path.parent, let name = arrival.path.name,
                    try database.row(in: arrival.parent, name) == nil
                else { return }
                guard let known, var row = try database.row(known.row.id),
                    try !database.isWithin(arrival.parent, row.id)
                else {
                    _ = try mint(arrival.entry, in: arrival.parent, database)
                    return
                }
                (row.parent, row.name) = (arrival.parent, name)
                // If an item was matched by its version alone, a different version says nothing about the content.
                let isOther = row.kind == .file && (known.isByLikeness || row.version != arrival.entry.version)
                if row.kind == .file { (row.version, row.size) = (arrival.entry.version, max(0, arrival.entry.size)) }
                row.take(arrival.entry.attributes)
                if isOther { (row.hash, row.seenAt) = (nil, seen(arrival.entry)) }
                try database.change(
                    &row, isOther: isOther, isExact: !known.isByLikeness && !hasGrain, epoch: table.epoch)
            }
        }
    }

    /// Creates an item for a new entry.
    func mint(_ entry: PathEntry, in parent: Int64, _ database: Database) throws -> PathRow {
        guard let name = entry.path.name else { throw RemoteStoreError.serverUnreachable }
        try database.vacate(parent, name, for: nil)
        var row = PathRow(
            id: try database.freshIdentifier(options.identifier), parent: parent, name: name, entry: entry)
        // Otherwise two names of one file would be one item at two paths.
        if let identity = row.identity, try !database.rows(where: "identity = ?", [identity]).isEmpty {
            row.identity = nil
        }
        row.seenAt = seen(entry)
        try database.change(&row, isOther: true, isExact: !hasGrain, epoch: table.epoch)
        return row
    }
}

extension Database {
    /// Whether an item is `folder`, or below it.
    func isWithin(_ id: Int64, _ folder: Int64) throws -> Bool {
        var here = id
        for _ in 0..<10_000 {
            if here == folder { return true }
            guard here != PathRow.root, let row = try row(here) else { return false }
            here = row.parent
        }
        return true
    }

    /// Moves the items known at a path to limbo, except one.
    func vacate(_ parent: Int64, _ name: FileName, for id: Int64?) throws {
        if let other = try row(in: parent, name), other.id != id { try sendToLimbo(other) }
    }
}
