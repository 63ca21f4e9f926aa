internal import GRDB
package import ReplicaModel
internal import Threads

/// The known entries of the storage's root, which identify the storage: they reveal an emptied or another one.
struct RootMemory: Sendable {
    /// The items in the root's last listing, or some of them if that was in an earlier run; nil if it was never listed: then all
    /// known items of the root count.
    var listed: Set<Int64>?
    /// Whether all known items were gone, and the user has not confirmed that.
    var isOther = false
    /// Whether the engine was told of that.
    var isTold = false
    /// Whether the user confirmed it, and the root was not listed since.
    var isAccepted = false
    /// When one of its items was last seen.
    var seenAt: Int64?
}

/// A storage has no identity of its own: a server whose disk is not mounted, or another bucket, answers that nothing is
/// there. So while all known items of the root are missing, nothing counts as deleted and nothing is sent, until the
/// user confirms it.
extension PathStore {
    package func recognize(_ anchor: SyncAnchor) async throws(RemoteStoreError) {
        try await tellingOfRoot { () async throws(RemoteStoreError) in try await self.expectRoot(isFresh: true) }
    }

    /// Reports that the root has lost all its items.
    func tellingOfRoot<Result>(
        _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        do throws(RemoteStoreError) { return try await body() } catch {
            let isOther = rootMemory.withLock { memory in
                memory.isTold = memory.isTold || memory.isOther
                return memory.isOther
            }
            guard error == .serverUnreachable, isOther else { throw error }
            throw .cannotSynchronize(
                "nothing is there any more of what the storage had: bring it back (is a disk not mounted there?), or accept it as it is "
                    + "with `replica approve`")
        }
    }

    /// The user accepts the storage as it is: this is the only case in which an anchor is requested after the engine
    /// was told.
    /// - Throws: ``RemoteStoreError/serverUnreachable`` if all items are gone and the engine was not told.
    func acceptRoot() throws(RemoteStoreError) {
        let isUntold = rootMemory.withLock { memory in
            guard memory.isOther else { return false }
            guard memory.isTold else { return true }
            (memory.isOther, memory.isTold, memory.isAccepted) = (false, false, true)
            return false
        }
        if isUntold { throw .serverUnreachable }
    }

    /// How long a check of the root is valid for creates in it, in nanoseconds.
    private static let longestTrust: Int64 = 1_000_000_000
    /// How many items are looked up one by one before the root is listed.
    private static let fewItems = 3
    /// How many folders are searched for the entries of a known one.
    private static let mostFolders = 8
    /// How many items of the root are remembered for the next run.
    private static let mostRemembered = 100

    /// Checks that the root still has known items.
    /// - Parameter isFresh: Whether it has to be checked now, as is necessary before anything counts as gone.
    /// - Throws: ``RemoteStoreError/serverUnreachable`` if there is none.
    func expectRoot(isFresh: Bool = false) async throws(RemoteStoreError) {
        guard options.asksAboutRoot else { return }
        let now = options.now()
        let isTrusted = rootMemory.withLock { memory in
            memory.isAccepted
                || !isFresh && !memory.isOther && memory.seenAt.map { now - $0 < Self.longestTrust } ?? false
        }
        if isTrusted { return }
        let known = try knownAtRoot()
        // What every disk may have, such as `.DS_Store`, comes first.
        let few = known.suffix(Self.fewItems)
        var there: [(row: PathRow, entry: PathEntry)] = []
        for row in few {
            guard let entry = try await present(StoragePath([row.name])), row.isSame(as: entry) else { break }
            there.append((row, entry))
            if proves(there, of: known) { return sawRoot(now) }
        }
        // Whoever asks for the present state needs an answer, even if nothing is known.
        if there.count == few.count, there.count * 2 >= known.count, !few.isEmpty || !isFresh { return sawRoot(now) }
        switch await listing(of: .root) {
        case .success(let listing):
            try await expectRoot(in: listing.entries)
            sawRoot(now)
        case .failure(let error): throw error.general
        }
    }

    /// Checks that a listing of the root contains known items: an unchanged one, or half of their names. A single name may be on
    /// any disk. The listing may be old, so it proves nothing about the present.
    func expectRoot(in entries: [FileName: PathEntry]) async throws(RemoteStoreError) {
        guard options.asksAboutRoot, !rootMemory.withLock({ $0.isAccepted }) else { return }
        let known = try knownAtRoot()
        let there = known.compactMap { row in entries[row.name].map { (row: row, entry: $0) } }
        if there.count * 2 >= known.count || proves(there, of: known) {
            // From now on a few of them are enough.
            if !isNoted(known) { rootMemory.withLock { $0.listed = Set(there.map(\.row.id)) } }
            return
        }
        // The entries under their own names were checked already.
        let former = Set(there.filter { $0.row.isSame(as: $0.entry) }.map(\.row.name))
        let strangers = entries.filter { !former.contains($0.key) }.map(\.value)
        if try await isRenamed(known.filter { !former.contains($0.name) }, to: strangers) { return }
        let isNew = rootMemory.withLock { memory in
            defer { memory.isOther = true }
            return !memory.isOther
        }
        // The call that detects it fails as if the storage were unreachable; the engine then asks for its identity.
        if isNew { listeners.signal() }
        throw .serverUnreachable
    }

    /// Whether entries prove that it is the same storage: one of them is unchanged, and is not of a name that many disks have.
    private func proves(_ there: [(row: PathRow, entry: PathEntry)], of known: [PathRow]) -> Bool {
        // An item that was created just now may be on another disk.
        guard isNoted(known) else { return false }
        let isAllCommon = known.allSatisfy { Self.isCommon($0.name) }
        return there.contains { isSame($0.row, $0.entry) && (isAllCommon || !Self.isCommon($0.row.name)) }
    }

    /// Whether any of them was in a listing.
    private func isNoted(_ known: [PathRow]) -> Bool {
        guard let listed = rootMemory.withLock({ $0.listed }) else { return true }
        return known.contains { listed.contains($0.id) }
    }

    /// Whether many disks have an entry of this name: `.DS_Store`, `@eaDir`, `#recycle`, what a new home has.
    private static func isCommon(_ name: FileName) -> Bool {
        name.bytes.first.map { [UInt8(ascii: "."), UInt8(ascii: "@"), UInt8(ascii: "#")].contains($0) } ?? true
    }

    /// Whether an entry can be nothing but the item. A folder of the same name can, and so can an empty file.
    private func isSame(_ row: PathRow, _ entry: PathEntry) -> Bool {
        guard row.isSame(as: entry) else { return false }
        switch entry.kind {
        case .file: return entry.size > 0 && entry.version != nil && entry.version == row.version
        case .symlink(let target): return target == row.target
        case .folder: return entry.identity != nil
        }
    }

    private func sawRoot(_ moment: Int64) {
        rootMemory.withLock { ($0.isOther, $0.isTold, $0.seenAt) = (false, false, moment) }
    }

    /// The current entries of the root become the known ones.
    func noteRoot() throws(RemoteStoreError) {
        let ids = Set(try table.read { try $0.rows(in: PathRow.root).map(\.id) })
        let former = rootMemory.withLock { memory in
            defer { (memory.listed, memory.isAccepted) = (ids, false) }
            return memory.listed
        }
        guard ids != former else { return }
        // A create after this one may have landed elsewhere: the next run must not count its item as known.
        let text = ids.sorted().prefix(Self.mostRemembered).map(String.init).joined(separator: " ")
        try table.write { database in
            try database.execute(sql: "INSERT OR REPLACE INTO meta VALUES ('root', ?)", arguments: [text])
        }
    }

    /// What the last run knew of the root.
    static func rememberedRoot(_ table: PathTable) throws(RemoteStoreError) -> RootMemory {
        let text = try table.read { try String.fetchOne($0, sql: "SELECT value FROM meta WHERE key = 'root'") }
        var memory = RootMemory()
        memory.listed = text.map { Set($0.split(separator: " ").compactMap { Int64($0) }) }
        return memory
    }

    /// Exists at the top of each ext4 filesystem.
    private static let ofEveryDisk = FileName("lost+found")

    /// The items that were at the root before recent creates, or those if there were none; nothing if there is only one item, because then it was most
    /// likely removed by its owner.
    private func knownAtRoot() throws(RemoteStoreError) -> [PathRow] {
        let listed = rootMemory.withLock { $0.listed }
        return try table.read { database in
            let sql = "SELECT count(*) FROM (SELECT 1 FROM item WHERE id != ? AND parent != ? LIMIT 2)"
            let count = try Int.fetchOne(database, sql: sql, arguments: [PathRow.root, PathRow.limbo]) ?? 0
            guard count > 1 else { return [] }
            let rows = try database.rows(in: PathRow.root).filter { $0.name != Self.ofEveryDisk }
            let noted = rows.filter { listed?.contains($0.id) ?? true }
            // A storage that began empty has nothing else.
            return noted.isEmpty ? rows : noted
        }
    }

    /// Whether one of them exists under another name, or they were moved together.
    private func isRenamed(_ known: [PathRow], to entries: [PathEntry]) async throws(RemoteStoreError) -> Bool {
        let identities = Set(known.compactMap(\.identity))
        let versions = Set(known.filter { $0.kind == .file && $0.size > 0 }.compactMap(\.version))
        let isThere = entries.contains { entry in
            if entry.identity.map(identities.contains) ?? false { return true }
            guard entry.kind == .file, let name = entry.path.name, !Self.isCommon(name) else { return false }
            return entry.version.map(versions.contains) ?? false
        }
        if isThere { return true }
        let below = try table.read { database in
            try known.filter { $0.kind == .folder }.map { try database.rows(in: $0.id).map(\.name) }
        }
        let groups = (below + [known.map(\.name)])
            .map { names in Set(names.filter { !Self.isCommon($0) }) }.filter { !$0.isEmpty }
        let folders = entries.filter { $0.kind == .folder }.sorted { $0.path.description < $1.path.description }
        for folder in folders.prefix(Self.mostFolders) {
            switch await listing(of: folder.path) {
            case .success(let found):
                // A single name may be in any folder.
                let isOne = groups.contains { names in names.count { found.entries[$0] != nil } * 2 >= names.count }
                if isOne { return true }
            case .failure(.notFound), .failure(.unavailable): continue
            case .failure(let error): throw error.general
            }
        }
        return false
    }
}
