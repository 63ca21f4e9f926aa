internal import GRDB
internal import ReplicaModel
internal import Threads

extension PathStore {
    /// Compares listed folders that are due, and drops items that were not found anywhere.
    /// - Parameters:
    ///   - everywhere: Whether all listed folders are compared, to search for an item.
    ///   - folder: A folder that is compared even if it was not listed.
    func compareListed(everywhere: Bool, also folder: Int64? = nil) async throws(RemoteStoreError) {
        do throws(RemoteStoreError) {
            try await compare(everywhere: everywhere, also: folder)
            // A poll that was requested meanwhile is still to come.
            activity.withLock { if !$0.isSignalledEverywhere { $0.fullPollsLeft = 0 } }
        } catch {
            // Somebody still waits for it. A storage that can't list all at once is not asked for that for ever.
            activity.withLock { activity in
                guard activity.fullPollsLeft > 0 else { return }
                activity.fullPollsLeft -= 1
                activity.isSignalledEverywhere = true
            }
            throw error
        }
    }

    private func compare(everywhere: Bool, also folder: Int64?) async throws(RemoteStoreError) {
        try await comparing.hold([PathLocks.Claim(path: .root, isTree: true)]) { () async throws(RemoteStoreError) in
            try await self.recoverAll()
            // Items in limbo since an earlier comparison are searched once more.
            let lost = try self.inLimbo()
            let listed = try self.table.read { database in
                try Int64.fetchAll(database, sql: "SELECT id FROM item WHERE isListed = 1 ORDER BY id")
            }
            var left = Set(listed)
            var due = self.due(listed, everywhere: everywhere)
            if self.followsFolders {
                let most = everywhere ? .max : self.options.mostFolders
                // A moved item is in a folder whose version has changed.
                if try await self.compareChangedFolders(most: most) { (left, due) = ([], everywhere ? [] : due) }
            }
            if let folder, folder > PathRow.limbo, !due.contains(folder) { due.append(folder) }
            left.subtract(due)
            try await self.compareFolders(due)
            let isSearching = try !self.inLimbo().isEmpty && self.follows
            if isSearching, !left.isEmpty { try await self.compareFolders(left.sorted()) }
            try self.letGo(lost.union(try self.inLimbo()))
            try self.forgetOldChanges()
            try await self.settleWhatIsDue()
        }
    }

    private func inLimbo() throws(RemoteStoreError) -> Set<Int64> {
        try table.read { database in
            Set(try Int64.fetchAll(database, sql: "SELECT id FROM item WHERE parent = ?", arguments: [PathRow.limbo]))
        }
    }

    private func letGo(_ ids: Set<Int64>) throws(RemoteStoreError) {
        guard !ids.isEmpty else { return }
        try table.write { database in
            for id in ids.sorted() where try database.row(id)?.parent == PathRow.limbo { try database.drop(id) }
        }
    }

    /// The folders that are due, the least recently compared ones first.
    private func due(_ listed: [Int64], everywhere: Bool) -> [Int64] {
        let now = options.now()
        let (open, whole, life) = (
            nanoseconds(options.openIntervalSeconds), nanoseconds(options.wholeIntervalSeconds),
            nanoseconds(options.openForSeconds)
        )
        let (activity, signalled) = activity.withLock { activity in
            defer { (activity.signalled, activity.isSignalledEverywhere) = ([], false) }
            return (activity, activity.signalled)
        }
        if everywhere || activity.isSignalledEverywhere { return listed }
        let due = listed.filter { id in
            // Their versions show when; changes that versions don't cover, such as other attributes, are only looked
            // for in open folders.
            guard let comparedAt = activity.comparedAt[id] else { return !followsFolders }
            if followsFolders {
                return now - comparedAt >= whole && activity.usedAt[id].map { now - $0 < life } ?? false
            }
            let isOpen = activity.usedAt[id].map { now - $0 < life } ?? false
            if now - comparedAt >= (isOpen ? open : whole) { return true }
            // If the table can't be read, the code below fails and reports it.
            return !signalled.isEmpty && (try? path(of: id)).flatMap { $0 }.map(signalled.contains) ?? false
        }
        let sorted = due.sorted { (activity.comparedAt[$0] ?? .min) < (activity.comparedAt[$1] ?? .min) }
        return Array(sorted.prefix(options.mostFolders))
    }

    private func nanoseconds(_ seconds: Double) -> Int64 { Int64(seconds * 1_000_000_000) }

    /// - Returns: The folders whose entries are completely known as of the listing.
    @discardableResult
    func compareFolders(_ ids: [Int64]) async throws(RemoteStoreError) -> [FolderEntries] {
        guard !ids.isEmpty else { return [] }
        let comparison = locks.beginComparison()
        defer { locks.endComparison(comparison) }
        let moment = options.now()
        let places = try table.read { database in
            try ids.compactMap { id in try database.path(of: id).map { (id: id, path: $0) } }
        }
        var folders: [FolderEntries]
        if storage.properties.listsDeep, places.count > 1 {
            folders = try await deepListing(of: places)
        } else {
            let found = Locked<[FolderEntries]>([])
            try await inParallel(places) { (place) async throws(RemoteStoreError) in
                switch await self.listing(of: place.path) {
                case .success(let listing):
                    let folder = FolderEntries(folder: place.id, path: place.path, listing: listing)
                    found.withLock { $0.append(folder) }
                // The parent folder shows what happened to it. A folder that could not be listed is listed next time.
                case .failure(.notFound), .failure(.unavailable), .failure(.refused): return
                case .failure(let error): throw error.general
                }
            }
            folders = found.withLock { $0 }
        }
        folders.removeAll { locks.isStale($0.path, since: comparison) }
        folders.sort { ($0.path.names.count, $0.path.description) < ($1.path.names.count, $1.path.description) }
        try await compare(folders, since: comparison)
        let compared = folders.map(\.folder)
        try await calm(compared)
        activity.withLock { activity in
            for id in compared { activity.comparedAt[id] = moment }
        }
        try await searchFoldersThatAreGone(places, except: Set(compared))
        // Entries that calls were changing in the meantime were skipped.
        return folders.filter { folder in
            folder.entries.values.allSatisfy { !locks.isStale($0.path, since: comparison) }
        }
    }

    /// Lets other clients' changes settle before they are reported.
    func calm(_ folders: [Int64]) async throws(RemoteStoreError) {
        guard hasGrain else { return }
        let rows = try table.read { database in
            try folders.flatMap { folder in
                try database.rows(where: "parent = ? AND seenAt IS NOT NULL AND hash IS NULL", [folder])
            }
        }
        guard let last = rows.compactMap(\.seenAt).max() else { return }
        let left = last + storage.properties.changeGrain - options.now()
        if left > 0 { await options.sleep(left) }
        try await inParallel(rows) { (row) async throws(RemoteStoreError) in
            guard let path = try self.path(of: row.id) else { return }
            let comparison = self.locks.beginComparison()
            defer { self.locks.endComparison(comparison) }
            let entry = try await self.present(path)
            guard let entry, row.isSame(as: entry), !self.locks.isStale(path, since: comparison) else { return }
            try self.table.write { database in
                guard let now = try database.row(row.id), now.version == row.version else { return }
                _ = try self.observe(entry, as: now, database)
            }
        }
    }

    /// Checks folders whose listing failed and which no listing of a parent has explained.
    private func searchFoldersThatAreGone(
        _ places: [(id: Int64, path: StoragePath)], except compared: Set<Int64>
    ) async throws(RemoteStoreError) {
        for place in places where !compared.contains(place.id) && place.id != PathRow.root {
            guard let row = try table.read({ try $0.row(place.id) }), try path(of: row.id) == place.path else {
                continue
            }
            let comparison = locks.beginComparison()
            defer { locks.endComparison(comparison) }
            let entry = try await present(place.path)
            if locks.isStale(place.path, since: comparison) { continue }
            guard entry == nil else { continue }
            try await expectRoot(isFresh: true)
            try table.write { try $0.sendToLimbo(row) }
        }
    }

    /// One listing of everything, split into folders.
    private func deepListing(
        of places: [(id: Int64, path: StoragePath)]
    ) async throws(RemoteStoreError) -> [FolderEntries] {
        var folders = Dictionary(
            places.map { ($0.path, FolderEntries(folder: $0.id, path: $0.path)) },
            uniquingKeysWith: { $1 })
        var there: Set<StoragePath> = [.root]
        do throws(PathStorageError) {
            _ = try await eachEntry(of: .root, isDeep: true) { entry in
                guard let parent = entry.path.parent, parent.names.allSatisfy(\.isValid), let name = entry.path.name
                else { return false }
                if entry.kind == .folder, name.isValid { there.insert(entry.path) }
                _ = folders[parent]?.listing.take(entry, name)
                return name.isValid
            }
        } catch {
            throw error.general
        }
        // A folder that is not in it need not be empty.
        return folders.values.filter { there.contains($0.path) }
    }

    /// Checks written files again if a later write could have produced the same version.
    private func settleWhatIsDue() async throws(RemoteStoreError) {
        guard hasGrain else { return }
        let end = options.now() - storage.properties.changeGrain
        let rows = try table.read { try $0.rows(where: "hash IS NOT NULL AND seenAt <= ?", [end]) }
        try await inParallel(rows) { (row) async throws(RemoteStoreError) in
            guard let path = try self.path(of: row.id) else { return }
            try await self.locks.hold([PathLocks.Claim(path: path)]) { () async throws(RemoteStoreError) in
                guard try self.path(of: row.id) == path, let now = try self.table.read({ try $0.row(row.id) }) else {
                    return
                }
                _ = try await self.settled(now, at: path)
            }
        }
    }
}
