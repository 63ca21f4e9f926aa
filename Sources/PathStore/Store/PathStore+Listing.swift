internal import GRDB
package import ReplicaModel

/// A completely listed folder.
struct FolderEntries: Sendable {
    var folder: Int64
    var path: StoragePath
    var entries: [FileName: PathEntry]
}

extension PathStore {
    /// The number of items in a page.
    private static let pageSize = 1_000
    /// How many consecutive pages may contain nothing new.
    private static let mostEmptyPages = 100

    package func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage {
        let row = try known(folder)
        guard row.kind == .folder else { throw .cannotSynchronize("only folders can be listed") }
        if page == nil { try await list(row.id) }
        let rows = try table.read { try $0.rows(in: row.id, after: page?.bytes, limit: Self.pageSize + 1) }
        let next = rows.count > Self.pageSize ? EnumerationPage(bytes: rows[Self.pageSize - 1].name.bytes) : nil
        return ItemPage(items: rows.prefix(Self.pageSize).map(item), next: next)
    }

    /// Lists a folder and compares it with the table.
    private func list(_ id: Int64) async throws(RemoteStoreError) {
        try await recoverAll()
        for _ in 0..<8 {
            guard let path = try path(of: id) else {
                try await locate(id)
                continue
            }
            let comparison = locks.beginComparison()
            defer { locks.endComparison(comparison) }
            let moment = options.now()
            switch await listing(of: path) {
            case .success(let entries):
                if locks.isStale(path, since: comparison) { continue }
                try await compare([FolderEntries(folder: id, path: path, entries: entries)], since: comparison)
                try await calm([id])
                return use(id, comparedAt: moment)
            case .failure(.notFound): try await self.locate(id)
            case .failure(let error): throw error.general
            }
        }
        throw .itemUnavailable("the folder keeps moving")
    }

    func listing(of path: StoragePath) async -> Result<[FileName: PathEntry], PathStorageError> {
        do throws(PathStorageError) { return .success(try await entries(of: path)) } catch { return .failure(error) }
    }

    /// The entries of a folder by name, from a complete listing. Entries with invalid names, or of another folder, are
    /// omitted.
    func entries(of folder: StoragePath) async throws(PathStorageError) -> [FileName: PathEntry] {
        var found: [FileName: PathEntry] = [:]
        try await eachEntry(of: folder, isDeep: false) { entry in
            guard entry.path.parent == folder, let name = entry.path.name, found[name] == nil else { return false }
            found[name] = entry
            return true
        }
        return found
    }

    /// Passes on each entry of a listing, page by page.
    /// - Parameter take: Returns whether the entry is new.
    /// - Throws: ``PathStorageError/unreachable(_:)`` for a listing that has no end.
    func eachEntry(
        of folder: StoragePath, isDeep: Bool, _ take: (PathEntry) -> Bool
    ) async throws(PathStorageError) {
        var pages: Set<EnumerationPage> = []
        var page: EnumerationPage?
        var (empty, count) = (0, 0)
        repeat {
            if Task.isCancelled { throw .cancelled }
            let answer = try await storage.list(folder, isDeep: isDeep, from: page)
            let fresh = answer.entries.count { entry in
                guard let name = entry.path.name, name.isValid, entry.path.isWithin(folder) else { return false }
                return take(entry)
            }
            count += fresh
            empty = fresh == 0 ? empty + 1 : 0
            page = answer.next
            let isNew = page.map { $0.bytes.count <= 4_096 && pages.insert($0).inserted } ?? true
            guard isNew, empty <= Self.mostEmptyPages else { throw .unreachable("the listing does not end") }
            guard count <= options.mostEntries else {
                throw .unavailable("a folder has more than \(options.mostEntries) entries")
            }
        } while page != nil
    }
}
