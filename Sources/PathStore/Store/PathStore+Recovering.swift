internal import GRDB
package import ReplicaModel
internal import Threads

/// Determines the outcome of calls that were not answered, or were interrupted by a crash.
extension PathStore {
    package func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item? {
        let made = try await recoverCreate(template, Self.mark(of: template), isAsked: true)
        return made.map(item)
    }

    /// The item created earlier from this template.
    /// - Parameter isAsked: Whether to ask the storage even if no such call is recorded here.
    func recoverCreate(
        _ template: ItemTemplate, _ mark: String, isAsked: Bool = false
    ) async throws(RemoteStoreError) -> PathRow? {
        let (intents, made) = try table.read { database in
            (try database.intents(marked: mark), try database.rows(where: "mark = ?", [mark]))
        }
        if isAsked || !intents.isEmpty {
            for row in made {
                do throws(RemoteStoreError) {
                    let found = try await locate(row.id).row
                    try end(intents)
                    return found
                } catch {
                    guard error == .noSuchItem(ItemIdentifier(row: row.id)) else { throw error }
                }
            }
        }
        let running = underWay.withLock { $0 }
        let left = intents.filter { !running.contains($0.number) }
        guard isAsked || !left.isEmpty else { return nil }
        var found: PathRow?
        for intent in left where found == nil {
            found = try await searchMade(intent.parent, intent.name, template.kind, mark, intent)
        }
        // The table that recorded the call may be lost; if the storage keeps marks, it can still tell.
        if found == nil, left.isEmpty, storage.properties.keepsMarks, let parent = template.parent.row {
            found = try await searchMade(parent, template.filename, template.kind, mark, nil)
        }
        try end(left)
        return found
    }

    private func end(_ intents: [Intent]) throws(RemoteStoreError) {
        guard !intents.isEmpty else { return }
        try table.write { database in
            for intent in intents { try database.end(intent) }
        }
    }

    /// Searches for the result of a create, at its path, and by its mark in the same folder.
    private func searchMade(
        _ parent: Int64, _ name: FileName, _ kind: ItemKind, _ mark: String, _ intent: Intent?
    ) async throws(RemoteStoreError) -> PathRow? {
        guard let folder = try path(of: parent) else { return nil }
        if let entry = try await present(folder.appending(name)), entry.kind.itemKind == kind,
            try await isMade(entry, mark, intent)
        {
            return try await adopt(entry, in: parent, mark, intent)
        }
        guard storage.properties.keepsMarks else { return nil }
        switch await listing(of: folder) {
        case .success(let listing):
            let marked = listing.entries.values.first { $0.attributes.mark == mark && $0.kind.itemKind == kind }
            guard let marked else { return nil }
            return try await adopt(marked, in: parent, mark, intent)
        case .failure(.notFound): return nil
        case .failure(let error): throw error.general
        }
    }

    /// Whether an entry was made by this create: it has its mark, or equals what was sent.
    private func isMade(_ entry: PathEntry, _ mark: String, _ intent: Intent?) async throws(RemoteStoreError) -> Bool {
        if storage.properties.keepsMarks { return entry.attributes.mark == mark }
        guard let intent else { return false }
        switch entry.kind {
        case .folder: return true
        case .symlink(let target): return target == intent.target
        case .file:
            guard let hash = intent.hash, entry.size == intent.size else { return false }
            let row = PathRow(id: 0, parent: 0, name: intent.name, entry: entry)
            return try await self.hash(of: entry.path, row) == hash
        }
    }

    func adopt(
        _ entry: PathEntry, in parent: Int64, _ mark: String, _ intent: Intent?
    ) async throws(RemoteStoreError) -> PathRow {
        let row = try table.write { database in
            let known = try entry.path.name.flatMap { try database.row(in: parent, $0) }
            var row: PathRow
            if let known, known.isSame(as: entry) {
                row = try observe(entry, as: known, database)
            } else {
                row = try mint(entry, in: parent, database)
            }
            (row.mark, row.isListed) = (mark, row.kind == .folder)
            // The sent content is compared with the current one when no other write can produce the same version any
            // more.
            if row.seenAt != nil, intent?.size == row.size { row.hash = intent?.hash }
            try database.put(row)
            return row
        }
        return try await calm(row, at: entry.path)
    }

    // MARK: Known items

    /// Determines the outcome of all unanswered calls; otherwise their effects would count as other clients' changes.
    func recoverAll() async throws(RemoteStoreError) {
        for id in try table.read({ try $0.itemsInDoubt() }) { try await recover(id) }
    }

    /// Determines the outcome of the unanswered calls about an item.
    func recover(_ id: Int64) async throws(RemoteStoreError) {
        let running = underWay.withLock { $0 }
        let intents = try table.read { try $0.intents(of: id) }.filter { !running.contains($0.number) }
        for intent in intents { try await recover(intent) }
    }

    private func recover(_ intent: Intent) async throws(RemoteStoreError) {
        guard let row = try table.read({ try $0.row(intent.item) }), let path = try path(of: row.id) else {
            return try end([intent])
        }
        switch intent.operation {
        case .move: try await recoverMove(intent, row, path)
        case .write: try await recoverWrite(intent, row, path)
        // The next comparison detects removals and changed attributes.
        case .remove, .set, .create: try end([intent])
        }
    }

    private func recoverMove(_ intent: Intent, _ row: PathRow, _ path: StoragePath) async throws(RemoteStoreError) {
        guard let folder = try self.path(of: intent.parent) else { return try end([intent]) }
        let target = folder.appending(intent.name)
        let claims = [path, target].map { PathLocks.Claim(path: $0, isTree: row.kind == .folder) }
        try await locks.hold(claims) { () async throws(RemoteStoreError) in
            var former = try await self.present(path)
            var there = try await self.present(target)
            if let half = former, there != nil, row.isSame(as: half) {
                // An interrupted move in several steps may have left the item at both paths. By now it may have a third
                // target.
                do throws(PathStorageError) {
                    there = try await self.storage.move(
                        path, to: target, version: row.kind == .file ? row.version : nil)
                    former = nil
                } catch {
                    if error.isInDoubt { throw error.general }
                }
            }
            let hasLeft = former.map { !row.isSame(as: $0) } ?? true
            guard hasLeft, let there, row.isSame(as: there), row.kind != .file || row.size == max(0, there.size) else {
                return try self.end([intent])
            }
            try self.table.write { database in
                try database.end(intent)
                guard try database.path(of: row.id) == path, try !database.isWithin(intent.parent, row.id) else {
                    return
                }
                try database.vacate(intent.parent, intent.name, for: row.id)
                var moved = row
                (moved.parent, moved.name) = (intent.parent, intent.name)
                try database.put(moved)
                _ = try self.observe(there, as: moved, database)
                try database.noteChangeOfPlace(moved.id, epoch: self.table.epoch)
            }
        }
    }

    private func recoverWrite(_ intent: Intent, _ row: PathRow, _ path: StoragePath) async throws(RemoteStoreError) {
        try await locks.hold([PathLocks.Claim(path: path)]) { () async throws(RemoteStoreError) in
            for _ in 0..<3 {
                // If a write can leave the version unchanged, an equal version proves nothing.
                guard let entry = try await self.present(path), row.isSame(as: entry), entry.size == intent.size,
                    self.hasGrain || entry.version != row.version
                else { break }
                let now = PathRow(id: row.id, parent: row.parent, name: row.name, entry: entry)
                // If it changes while it is read, it is looked at again: it may still be what was sent.
                guard let hash = try await self.hash(of: path, now) else { continue }
                let ours = try self.table.write { database -> PathRow? in
                    try database.end(intent)
                    guard hash == intent.hash, let row = try database.row(row.id) else { return nil }
                    return try self.confirm(entry, row, sent: PathAttributes(), written: intent.hash, database)
                }
                if let ours, let base = intent.base { self.notePassed(base, ours, intent.hash) }
                return
            }
            try self.end([intent])
        }
    }

    /// A lost call wrote this. It is repeated with the base that it had, perhaps more than once, and may be lost each time.
    private func notePassed(_ base: String, _ row: PathRow, _ hash: [UInt8]?) {
        passed.withLock { passed in
            let former = passed[row.id].flatMap { $0.token == base ? $0.bases : nil } ?? []
            passed[row.id] = PassedVersion(bases: former.union([base]), token: row.token, hash: hash)
        }
    }
}

extension Database {
    /// Notes that an item has moved.
    fileprivate func noteChangeOfPlace(_ id: Int64, epoch: String) throws {
        guard var row = try row(id) else { return }
        try change(&row, epoch: epoch)
    }
}
