internal import GRDB
internal import ReplicaModel
internal import Threads

/// The common part of all changing calls.
extension PathStore {
    /// Holds an item's path, and another, while `body` runs; repeats it if the item turns out to be at another path.
    /// - Parameters:
    ///   - other: Another path that is needed, given the item's current one.
    ///   - body: Returns nil if the item is not at its path.
    func acting<Result>(
        on id: Int64, also other: (StoragePath) throws(RemoteStoreError) -> StoragePath? = { _ in nil },
        _ body: (PathRow, StoragePath) async throws(RemoteStoreError) -> Result?
    ) async throws(RemoteStoreError) -> Result {
        for _ in 0..<8 {
            try await recover(id)
            guard let row = try table.read({ try $0.row(id) }) else { throw .noSuchItem(ItemIdentifier(row: id)) }
            if let path = try path(of: id) {
                let isTree = row.kind == .folder
                var claims = [PathLocks.Claim(path: path, isTree: isTree)]
                let second = try other(path)
                if let second { claims.append(PathLocks.Claim(path: second, isTree: isTree)) }
                let result = try await locks.hold(claims) { () async throws(RemoteStoreError) -> Result? in
                    // It may have moved during the wait.
                    guard try self.path(of: id) == path, let now = try self.table.read({ try $0.row(id) }),
                        try other(path) == second
                    else { return nil }
                    return try await body(now, path)
                }
                if let result { return result }
            }
            try await locate(id)
        }
        throw .itemUnavailable("it keeps moving")
    }

    /// Records an intent, carries it out, and removes the record when the outcome is known.
    /// - Parameter confirm: Records the result, in the transaction that removes the intent.
    func doing<Answer: Sendable, Result>(
        _ intent: Intent, _ call: () async throws(PathStorageError) -> Answer,
        confirm: (Answer, Database) throws -> Result
    ) async throws(RemoteStoreError) -> Swift.Result<Result, PathStorageError> {
        var intent = intent
        let sent = intent
        intent.number = try table.write { try $0.begin(sent) }
        let (ended, number) = (intent, intent.number)
        underWay.withLock { _ = $0.insert(number) }
        defer { underWay.withLock { _ = $0.remove(number) } }
        let answer: Answer
        do throws(PathStorageError) {
            answer = try await call()
        } catch {
            if !error.isInDoubt { try table.write { try $0.end(ended) } }
            return .failure(error)
        }
        return .success(
            try table.write { database in
                try database.end(ended)
                return try confirm(answer, database)
            })
    }

    /// The attributes of a template that are sent.
    func attributes(_ template: ItemTemplate, _ fields: ItemFields, mark: String? = nil) -> PathAttributes {
        let kept = fields.intersection(properties.fields)
        return PathAttributes(
            mode: kept.contains(.mode) ? template.metadata.mode : nil,
            modificationDate: kept.contains(.modificationDate) ? template.metadata.modificationDate : nil,
            mark: storage.properties.keepsMarks ? mark : nil)
    }

    /// The fields that stay local.
    func unkept(_ fields: ItemFields) -> ItemFields { fields.intersection(.metadata).subtracting(properties.fields) }

    func check(_ name: FileName) throws(RemoteStoreError) {
        guard name.isValid, name.bytes.count <= properties.longestName else {
            throw .cannotSynchronize("the storage can't keep this name")
        }
    }

    /// The item at a path that is taken.
    func occupant(of path: StoragePath, in parent: Int64, _ told: PathEntry?) async throws(RemoteStoreError) -> PathRow
    {
        var entry = told
        if entry == nil {
            do throws(PathStorageError) { entry = try await storage.entry(at: path) } catch { throw error.general }
        }
        // If it is gone, the call is repeated. An entry under another name belongs to another file, unless only the
        // case differs.
        guard let entry, let name = entry.path.name, name.isValid, entry.path.parent == path.parent,
            name == path.name || !storage.properties.isCaseSensitive
        else { throw .serverUnreachable }
        return try table.write { database in
            if let row = try database.row(in: parent, name), row.isSame(as: entry) {
                return try observe(entry, as: row, database)
            }
            return try mint(entry, in: parent, database)
        }
    }

    /// Records the result of our own call for an item. Its content is still that of the row's token, unless `hash` is
    /// given.
    func confirm(
        _ entry: PathEntry, _ row: PathRow, sent: PathAttributes, written hash: [UInt8]?? = nil, _ database: Database
    ) throws -> PathRow {
        var row = row
        row.take(entry.attributes, sent: sent)
        row.identity = entry.identity ?? row.identity
        if row.kind == .file {
            let isOther = row.version != entry.version
            (row.version, row.size) = (entry.version, max(0, entry.size))
            if let hash {
                row.seenAt = seen(entry)
                row.hash = row.seenAt == nil ? nil : hash
            } else if isOther {
                (row.seenAt, row.hash) = (seen(entry), nil)
            }
        }
        try database.change(&row, isOther: hash != nil, isExact: !hasGrain, epoch: table.epoch)
        return row
    }

    /// The hash of a content that is sent, if it may be needed later: if the storage does not keep marks, or if another
    /// client's write may produce the same version.
    func neededHash(of contents: ItemContents?, isCreate: Bool) async -> [UInt8]? {
        guard let contents, hasGrain || isCreate && !storage.properties.keepsMarks || !isCreate else { return nil }
        return await ContentHash.of(contents)
    }
}
