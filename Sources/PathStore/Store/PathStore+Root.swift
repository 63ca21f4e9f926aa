internal import GRDB
package import ReplicaModel
internal import Threads

/// What is known of the storage's root, by which an emptied or another one is told.
struct RootMemory: Sendable {
    /// The items that the root's last listing had; nil as long as it was not listed in this run: then all that are known there count.
    var listed: Set<Int64>?
    /// Whether nothing was there any more of what was, and nobody has said that it is to be so.
    var isOther = false
    /// Whether the engine was told of that.
    var isTold = false
    /// Whether a person said so, and the root was not listed since.
    var isAccepted = false
    /// When something of it was seen last.
    var seenAt: Int64?
}

/// A storage has no name by which it is known: a server whose disk is not mounted, and another bucket, answer that nothing is there. So
/// nothing counts as deleted, and nothing is sent there, while nothing is there of what the root had, until a person says so.
extension PathStore {
    package func recognize(_ anchor: SyncAnchor) async throws(RemoteStoreError) {
        try await tellingOfRoot { () async throws(RemoteStoreError) in try await self.expectRoot(isFresh: true) }
    }

    /// Says where the root has nothing any more of what it had.
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

    /// A person accepts the storage as it is: nobody else asks for an anchor after the engine was told.
    /// - Throws: ``RemoteStoreError/serverUnreachable`` if nothing is there any more and the engine was not told.
    func acceptRoot() throws(RemoteStoreError) {
        let isUntold = rootMemory.withLock { memory in
            guard memory.isOther else { return false }
            guard memory.isTold else { return true }
            (memory.isOther, memory.isTold, memory.isAccepted) = (false, false, true)
            return false
        }
        if isUntold { throw .serverUnreachable }
    }

    /// For how long one look at the root is enough for making something there, in nanoseconds.
    private static let longestTrust: Int64 = 1_000_000_000
    /// How many items are looked for one by one before the root is listed.
    private static let fewItems = 3
    /// How many new folders are looked into for a known one that was renamed.
    private static let mostFolders = 8

    /// Expects something to be at the root of what was there.
    /// - Parameter isFresh: Whether it has to be looked at now, as before anything counts as gone.
    /// - Throws: ``RemoteStoreError/serverUnreachable`` where nothing is.
    func expectRoot(isFresh: Bool = false) async throws(RemoteStoreError) {
        guard options.asksAboutRoot else { return }
        let now = options.now()
        let isTrusted = rootMemory.withLock { memory in
            memory.isAccepted
                || !isFresh && !memory.isOther && memory.seenAt.map { now - $0 < Self.longestTrust } ?? false
        }
        if isTrusted { return }
        let known = try knownAtRoot()
        for row in known.prefix(Self.fewItems) {
            if try await present(StoragePath([row.name])) != nil { return sawRoot(now) }
        }
        if known.isEmpty { return sawRoot(now) }
        switch await listing(of: .root) {
        case .success(let entries):
            try await expectRoot(in: entries)
            sawRoot(now)
        case .failure(let error): throw error.general
        }
    }

    /// Expects a listing of the root to have something of what was there. It may be old by now: it proves nothing of the present.
    func expectRoot(in entries: [FileName: PathEntry]) async throws(RemoteStoreError) {
        guard options.asksAboutRoot, !rootMemory.withLock({ $0.isAccepted }) else { return }
        let known = try knownAtRoot()
        var isSame = known.isEmpty || known.contains { entries[$0.name] != nil }
        if !isSame { isSame = try await isRenamed(known, to: Array(entries.values)) }
        guard !isSame else { return }
        let isNew = rootMemory.withLock { memory in
            defer { memory.isOther = true }
            return !memory.isOther
        }
        // A call that found it out is answered as one of a storage that is away; the engine asks then what it is.
        if isNew { listeners.signal() }
        throw .serverUnreachable
    }

    private func sawRoot(_ moment: Int64) {
        rootMemory.withLock { ($0.isOther, $0.isTold, $0.seenAt) = (false, false, moment) }
    }

    /// What is at the root now is what it has from now on.
    func noteRoot() throws(RemoteStoreError) {
        let ids = try table.read { try $0.rows(in: PathRow.root).map(\.id) }
        rootMemory.withLock { ($0.listed, $0.isAccepted) = (Set(ids), false) }
    }

    /// What is at the top of each ext4 filesystem.
    private static let ofEveryDisk = FileName("lost+found")

    /// What was at the root before anything was made there lately; nothing where one item is all that there is: that its owner removed it is
    /// more likely than anything else.
    private func knownAtRoot() throws(RemoteStoreError) -> [PathRow] {
        let listed = rootMemory.withLock { $0.listed }
        return try table.read { database in
            let sql = "SELECT count(*) FROM (SELECT 1 FROM item WHERE id != ? AND parent != ? LIMIT 2)"
            let count = try Int.fetchOne(database, sql: sql, arguments: [PathRow.root, PathRow.limbo]) ?? 0
            guard count > 1 else { return [] }
            return try database.rows(in: PathRow.root).filter { row in
                row.name != Self.ofEveryDisk && listed?.contains(row.id) ?? true
            }
        }
    }

    /// Whether something of it is there under another name.
    private func isRenamed(_ known: [PathRow], to entries: [PathEntry]) async throws(RemoteStoreError) -> Bool {
        let identities = Set(known.compactMap(\.identity))
        let versions = Set(known.filter { $0.kind == .file && $0.size > 0 }.compactMap(\.version))
        let isThere = entries.contains { entry in
            entry.identity.map(identities.contains) ?? false
                || entry.kind == .file && (entry.version.map(versions.contains) ?? false)
        }
        if isThere { return true }
        let below = try table.read { database in
            try known.filter { $0.kind == .folder }.map { folder in
                Set(try database.rows(in: folder.id).map(\.name))
            }
        }
        for folder in entries.filter({ $0.kind == .folder }).prefix(Self.mostFolders) {
            switch await listing(of: folder.path) {
            case .success(let found):
                if below.contains(where: { names in found.keys.contains(where: names.contains) }) { return true }
            case .failure(.notFound), .failure(.unavailable): continue
            case .failure(let error): throw error.general
            }
        }
        return false
    }
}
