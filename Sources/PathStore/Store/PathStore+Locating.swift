internal import GRDB
package import ReplicaModel

extension PathStore {
    package func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item {
        let row = try known(identifier)
        if row.id == PathRow.root { return item(of: row) }
        use(row.parent)
        return item(of: try await locate(row.id).row)
    }

    /// The current state and place of an item. Must not be called while holding a path.
    /// - Throws: ``RemoteStoreError/noSuchItem(_:)`` if nothing is at its path, and it is found nowhere else.
    @discardableResult
    func locate(_ id: Int64) async throws(RemoteStoreError) -> (row: PathRow, path: StoragePath) {
        if id == PathRow.root { return (try known(.root), .root) }
        // An unanswered call may have moved it: its current path is determined first.
        try await recover(id)
        var mayHaveMoved = true
        for _ in 0..<8 {
            guard let row = try table.read({ try $0.row(id) }) else { throw .noSuchItem(ItemIdentifier(row: id)) }
            if let path = try path(of: id) {
                let comparison = locks.beginComparison()
                defer { locks.endComparison(comparison) }
                let entry = try await present(path)
                if locks.isStale(path, since: comparison) {
                    await Task.yield()
                    continue
                }
                if let entry, row.isSame(as: entry) {
                    return (try await calm(try table.write { try observe(entry, as: row, $0) }, at: path), path)
                }
                if entry == nil { try await expectRoot(isFresh: true) }
                try table.write { try $0.sendToLimbo(row) }
            }
            if mayHaveMoved, follows {
                try await compareListed(everywhere: true, also: row.parent)
                mayHaveMoved = false
            } else {
                try table.write { database in
                    if try database.path(of: id) == nil { try database.drop(id) }
                }
            }
        }
        throw .itemUnavailable("it keeps moving")
    }

    /// The current state of an item; nil if it is not at the held path.
    func peek(_ row: PathRow, at path: StoragePath) async throws(RemoteStoreError) -> PathRow? {
        guard let entry = try await present(path), row.isSame(as: entry) else { return nil }
        return try await calm(try table.write { try observe(entry, as: row, $0) }, at: path)
    }

    /// A change by others is not reported before its version is settled; otherwise it would have to be reported again.
    func calm(_ row: PathRow, at path: StoragePath) async throws(RemoteStoreError) -> PathRow {
        row.seenAt != nil && row.hash == nil ? try await settled(row, at: path) : row
    }

    /// Whether an item can be recognized at another path.
    var follows: Bool { storage.properties.hasIdentities || storage.properties.keepsMarks }

    /// The entry at a path now, under exactly this name.
    func present(_ path: StoragePath) async throws(RemoteStoreError) -> PathEntry? {
        let entry: PathEntry?
        do throws(PathStorageError) { entry = try await storage.entry(at: path) } catch { throw error.general }
        // A different case is a different name; anything else is an invalid answer.
        guard let entry, entry.path != path else { return entry }
        if !storage.properties.isCaseSensitive, entry.path.names.count == path.names.count { return nil }
        throw .serverUnreachable
    }

    /// Records the storage's state of an item.
    func observe(_ entry: PathEntry, as row: PathRow, _ database: Database) throws -> PathRow {
        var new = row
        new.take(entry.attributes)
        new.identity = new.identity ?? entry.identity
        new.mark = new.mark ?? entry.attributes.mark
        var isOther = false
        if row.kind == .file {
            if entry.version != row.version || max(0, entry.size) != row.size {
                isOther = true
                (new.version, new.size, new.hash, new.seenAt) = (entry.version, max(0, entry.size), nil, seen(entry))
            } else if row.hash == nil, row.seenAt != nil, isFinal(row, entry) {
                // Other clients may have written since it was first reported, so the reported content may be outdated.
                isOther = true
                new.seenAt = nil
            }
        }
        guard new != row else { return row }
        if isOther || new.told != row.told || new.meant != row.meant {
            try database.change(&new, isOther: isOther, isExact: !hasGrain, epoch: table.epoch)
        } else {
            try database.put(new)
        }
        return new
    }

    /// When a version was first seen that a later write may produce again.
    func seen(_ entry: PathEntry) -> Int64? {
        hasGrain && !entry.isSettled && entry.kind == .file ? options.now() : nil
    }

    /// Whether no write from now on can produce the current version.
    func isFinal(_ row: PathRow, _ entry: PathEntry) -> Bool {
        guard let seenAt = row.seenAt else { return true }
        return entry.isSettled || options.now() - seenAt >= storage.properties.changeGrain
    }

    /// Waits until another write can no longer leave an item's version unchanged, and checks that the content is still
    /// the known one: only then a version can serve as a precondition.
    func settled(_ row: PathRow, at path: StoragePath) async throws(RemoteStoreError) -> PathRow {
        guard let seenAt = row.seenAt else { return row }
        let left = seenAt + storage.properties.changeGrain - options.now()
        if left > 0 { await options.sleep(left) }
        guard let entry = try await present(path), row.isSame(as: entry) else { return row }
        let now = try table.write { try observe(entry, as: row, $0) }
        guard now.seenAt != nil, now.hash != nil, isFinal(now, entry) else { return now }
        return try await verified(now, at: path)
    }

    /// Compares the current content with what was written.
    func verified(_ row: PathRow, at path: StoragePath) async throws(RemoteStoreError) -> PathRow {
        let found = try await hash(of: path, row)
        return try table.write { database in
            guard var now = try database.row(row.id), now.version == row.version, now.hash == row.hash else {
                return try database.row(row.id) ?? row
            }
            (now.hash, now.seenAt) = (nil, nil)
            if found == row.hash {
                try database.put(now)
            } else {
                try database.change(&now, isOther: true, isExact: false, epoch: table.epoch)
            }
            return now
        }
    }

    /// The hash of a file's current content; nil if its version has changed.
    func hash(of path: StoragePath, _ row: PathRow) async throws(RemoteStoreError) -> [UInt8]? {
        let spool = try HashingSink(in: folder, limit: row.size)
        do throws(PathStorageError) {
            _ = try await storage.read(path, version: row.version, range: nil, into: spool)
        } catch {
            switch error {
            case .changed, .notFound: return nil
            default: throw error.general
            }
        }
        return spool.hash(size: row.size)
    }
}
