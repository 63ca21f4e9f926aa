internal import GRDB
package import ReplicaModel

/// A complete listing of a folder.
struct FolderListing: Sendable {
    var entries: [FileName: PathEntry] = [:]
    /// What is not among ``entries``.
    var leftOut = LeftOutNames()

    /// Takes an entry, unless its name is invalid or there is one of its name already.
    /// - Returns: Whether it is new.
    mutating func take(_ entry: PathEntry, _ name: FileName) -> Bool {
        guard name.isValid else {
            leftOut.add(name.description)
            return false
        }
        guard let other = entries[name] else {
            entries[name] = entry
            return true
        }
        // A page may repeat an entry of another one, but a file and a folder are two.
        if other.kind.itemKind != entry.kind.itemKind { leftOut.add(name.description) }
        return false
    }
}

/// A completely listed folder that is known.
struct FolderEntries: Sendable {
    var folder: Int64
    var path: StoragePath
    var listing = FolderListing()

    var entries: [FileName: PathEntry] { listing.entries }
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
            case .success(let listing):
                if locks.isStale(path, since: comparison) { continue }
                try await compare([FolderEntries(folder: id, path: path, listing: listing)], since: comparison)
                try await calm([id])
                return use(id, comparedAt: moment)
            case .failure(.notFound): try await self.locate(id)
            case .failure(let error): throw error.general
            }
        }
        throw .itemUnavailable("the folder keeps moving")
    }

    /// A complete listing of a folder. Entries with invalid names are left out, those of another folder are ignored.
    func listing(of folder: StoragePath) async -> Result<FolderListing, PathStorageError> {
        do throws(PathStorageError) {
            var found = FolderListing()
            let leftOut = try await eachEntry(of: folder, isDeep: false) { entry in
                guard entry.path.parent == folder, let name = entry.path.name else { return false }
                return found.take(entry, name)
            }
            found.leftOut.add(leftOut)
            return .success(found)
        } catch {
            return .failure(error)
        }
    }

    /// Passes on each entry of a listing, page by page.
    /// - Parameter take: Returns whether the entry is new.
    /// - Returns: What the storage leaves out.
    /// - Throws: ``PathStorageError/unreachable(_:)`` for a listing that has no end.
    func eachEntry(
        of folder: StoragePath, isDeep: Bool, _ take: (PathEntry) -> Bool
    ) async throws(PathStorageError) -> LeftOutNames {
        var leftOut = LeftOutNames()
        var pages: Set<EnumerationPage> = []
        var page: EnumerationPage?
        var (empty, count) = (0, 0)
        repeat {
            if Task.isCancelled { throw .cancelled }
            let answer = try await storage.list(folder, isDeep: isDeep, from: page)
            leftOut.add(answer.leftOut)
            let fresh = answer.entries.count { $0.path.isWithin(folder) && take($0) }
            count += fresh
            empty = fresh == 0 ? empty + 1 : 0
            page = answer.next
            let isNew = page.map { $0.bytes.count <= 4_096 && pages.insert($0).inserted } ?? true
            guard isNew, empty <= Self.mostEmptyPages else { throw .unreachable("the listing does not end") }
            guard count <= options.mostEntries else {
                throw .unavailable("a folder has more than \(options.mostEntries) entries")
            }
        } while page != nil
        return leftOut
    }
}
