internal import GRDB
package import ReplicaModel
internal import Threads

extension PathStore {
    private static let batchSize = 1_000

    /// - Note: A call after the engine was told that the root is empty means that the user accepts that.
    package func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor {
        try await tellingOfRoot { () async throws(RemoteStoreError) in try self.acceptRoot() }
        return anchor(try table.read { try $0.newestChange() })
    }

    private func anchor(_ sequence: Int64) -> SyncAnchor { SyncAnchor("\(table.epoch).\(sequence)") }

    package func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        let parts = String(decoding: anchor.bytes, as: UTF8.self).split(
            separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == table.epoch, let start = Int64(parts[1]), start >= 0 else {
            throw .syncAnchorExpired
        }
        try await tellingOfRoot { () async throws(RemoteStoreError) in
            if self.rootMemory.withLock({ $0.isOther }) { try await self.expectRoot(isFresh: true) }
            try await self.compareListed(everywhere: false)
        }
        return try table.read { database in
            let newest = try database.newestChange()
            let oldest = try Int64.fetchOne(database, sql: "SELECT value FROM meta WHERE key = 'forgotten'") ?? 0
            guard start <= newest, start >= oldest else { throw RemoteStoreError.syncAnchorExpired }
            let sql = "SELECT sequence, id FROM change WHERE sequence > ? ORDER BY sequence LIMIT ?"
            let changes = try Row.fetchAll(database, sql: sql, arguments: [start, Self.batchSize + 1])
            let isMore = changes.count > Self.batchSize
            var batch = ChangeBatch(updated: [], deleted: [], anchor: anchor, moreComing: isMore)
            for change in changes.prefix(Self.batchSize) {
                let id: Int64 = change["id"]
                if id == PathRow.root { continue }
                guard let row = try database.row(id) else {
                    batch.deleted.append(ItemIdentifier(row: id))
                    continue
                }
                // A missing item is reported when its state is known.
                if row.parent != PathRow.limbo { batch.updated.append(item(of: row)) }
            }
            let end: Int64 = isMore ? changes[Self.batchSize - 1]["sequence"] : newest
            batch.anchor = self.anchor(end)
            batch.leftOut = try database.leftOut()
            return batch
        }
    }

    /// All folders that were listed are compared.
    package func pollEverything() {
        activity.withLock { activity in
            activity.isSignalledEverywhere = true
            activity.fullPollsLeft = Self.mostFullPolls
        }
    }

    private static let mostFullPolls = 3

    /// Drops all but the newest changes.
    func forgetOldChanges() throws(RemoteStoreError) {
        try table.write { database in
            let end = try database.newestChange() - PathTable.mostChanges
            guard end > 0 else { return }
            try database.execute(sql: "DELETE FROM change WHERE sequence <= ?", arguments: [end])
            try database.execute(sql: "INSERT OR REPLACE INTO meta VALUES ('forgotten', ?)", arguments: [String(end)])
        }
    }

    // MARK: Recent activity

    /// Notes activity in a folder, and the time of its listing.
    func use(_ folder: Int64, comparedAt moment: Int64? = nil) {
        let now = options.now()
        activity.withLock { activity in
            activity.usedAt[folder] = now
            if let moment { activity.comparedAt[folder] = moment }
        }
    }

    package func signals() -> AsyncStream<Void> {
        let isFirst = activity.withLock { activity in
            defer { activity.isListening = true }
            return !activity.isListening
        }
        if isFirst { listen() }
        return listeners.stream()
    }

    private func listen() {
        let signals = storage.signals()
        let sleep = options.sleep
        let interval = Int64(options.openIntervalSeconds * 1_000_000_000)
        let hearing = Task { [weak self] in
            for await folder in signals { self?.hear(folder) }
        }
        let asking = Task { [weak self] in
            while !Task.isCancelled {
                await sleep(interval)
                guard let self else { return }
                if self.isInUse { self.listeners.signal() }
            }
        }
        hearings.withLock { $0 += [hearing, asking] }
    }

    private func hear(_ folder: StoragePath?) {
        activity.withLock { activity in
            if let folder { activity.signalled.insert(folder) } else { activity.isSignalledEverywhere = true }
            if activity.signalled.count > 10_000 { activity.isSignalledEverywhere = true }
        }
        listeners.signal()
    }

    private var isInUse: Bool {
        let oldest = options.now() - Int64(options.openForSeconds * 1_000_000_000)
        return activity.withLock { $0.usedAt.values.contains { $0 > oldest } }
    }
}
