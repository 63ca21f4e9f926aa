internal import GRDB
package import ReplicaModel
internal import Threads

/// A store over any storage that knows only paths: it gives items lasting identifiers and versions, finds out what changed
/// by comparing, and what became of calls whose answers were lost (docs/decisions/path-store.md).
///
/// Its knowledge is a table in a file of its own, written by one `PathStore` at a time. If that is lost, no data is:
/// everything is listed again under new identifiers.
///
/// Large: every call of a store, a file for each group of them.
package final class PathStore: RemoteStore {
    let storage: any PathStorage
    let table: PathTable
    let options: PathStoreOptions
    /// Where the table is, and temporary files are.
    let folder: String
    let locks = PathLocks()
    /// One looks around at a time.
    let looking = PathLocks()
    let attention: Locked<Attention>
    let rootMemory = Locked(RootMemory())
    /// The intents of calls that are under way in this process.
    let underWay = Locked<Set<Int64>>([])
    /// Versions written by unanswered calls, by item: the caller that repeats them does not know these versions.
    let passed = Locked<[Int64: PassedVersion]>([:])
    let listeners = Listeners<Void>()
    /// What hears the storage and asks it, as long as this is there.
    let hearings = Locked<[Task<Void, Never>]>([])

    /// A store over `storage` that keeps what it knows in `folder`, which is there: a domain's state folder.
    /// - Throws: ``RemoteStoreError/itemUnavailable(_:)`` when the table can't be opened or made.
    package init(
        _ storage: any PathStorage, folder: String, options: PathStoreOptions = PathStoreOptions()
    ) throws(RemoteStoreError) {
        self.storage = storage
        self.options = options
        self.folder = folder
        table = try PathTable(path: folder + "/store.db")
        attention = Locked(Attention())
        // It is unknown how long ago a version was seen that a later write may have left unchanged: count from now.
        let now = options.now()
        try table.write { database in
            try database.execute(sql: "UPDATE item SET seenAt = ? WHERE seenAt IS NOT NULL", arguments: [now])
        }
    }

    deinit {
        for task in hearings.withLock({ $0 }) { task.cancel() }
    }

    package var properties: StoreProperties { Self.properties(of: storage) }

    /// What a store over `storage` can keep and do.
    package static func properties(of storage: any PathStorage) -> StoreProperties {
        let storage = storage.properties
        var properties = StoreProperties()
        properties.fields = [.contents, .place]
        if storage.keepsModes { properties.fields.insert(.mode) }
        if storage.keepsModificationDates { properties.fields.insert(.modificationDate) }
        properties.keepsSymlinks = storage.keepsSymlinks
        properties.fetchesRanges = storage.fetchesRanges
        properties.isCaseSensitive = storage.isCaseSensitive
        properties.longestName = min(255, max(1, storage.longestName))
        properties.keepsIdentifiers = storage.hasIdentities
        properties.recognizesCreates = storage.keepsMarks
        properties.concurrency = min(128, max(1, storage.concurrency))
        return properties
    }

    package func makeDurable() async throws(RemoteStoreError) {
        do throws(PathStorageError) { try await storage.makeDurable() } catch { throw error.general }
        try table.makeDurable()
    }

    package func importDidFinish() async {}

    /// Closes the table: no call works after it.
    package func close() throws(RemoteStoreError) { try table.close() }

    /// Whether two writes may leave one version.
    var hasGrain: Bool { storage.properties.changeGrain > 0 }

    /// Whether it need only look into folders whose versions are others than before.
    var followsFolders: Bool { storage.properties.foldersTellChanges && !hasGrain }
}

/// A version that a call of ours made whose answer was lost.
struct PassedVersion: Hashable, Sendable {
    /// The version that the call was based on.
    var base: String
    /// The token of the content it made.
    var token: String
    /// Of what it wrote.
    var hash: [UInt8]?
}

extension ItemIdentifier {
    init(row: Int64) {
        let digits = String(row, radix: 16)
        self.init(
            row == PathRow.root ? Self.root.rawValue : "i" + String(repeating: "0", count: 16 - digits.count) + digits)
    }

    /// The number of a row; nil for what is no identifier of this store.
    var row: Int64? {
        if self == .root { return PathRow.root }
        guard rawValue.utf8.count == 17, rawValue.hasPrefix("i"), let id = Int64(rawValue.dropFirst(), radix: 16),
            id > 0
        else { return nil }
        return id
    }
}

extension PathStore {
    /// A row as it is reported to the engine.
    func item(of row: PathRow) -> Item {
        let isRoot = row.id == PathRow.root
        var item = Item(
            identifier: ItemIdentifier(row: row.id), parent: ItemIdentifier(row: isRoot ? PathRow.root : row.parent),
            filename: isRoot ? FileName("/") : row.name, kind: row.kind,
            version: ItemVersion(content: row.token, metadata: "\(table.epoch).\(row.revision)"), size: row.size,
            target: row.target)
        let properties = storage.properties
        if properties.keepsModes { item.metadata.mode = row.meant.mode ?? row.told.mode }
        if properties.keepsModificationDates {
            item.metadata.modificationDate = row.meant.modificationDate ?? row.told.modificationDate
        }
        return item
    }

    /// The row of an identifier.
    /// - Throws: ``RemoteStoreError/noSuchItem(_:)``: the table has all that is there.
    func known(_ identifier: ItemIdentifier) throws(RemoteStoreError) -> PathRow {
        if identifier == .trash { throw .unsupported("this store keeps no trash") }
        guard let id = identifier.row, let row = try table.read({ try $0.row(id) }) else {
            throw .noSuchItem(identifier)
        }
        return row
    }

    /// Where a row is; nil when that is not known.
    func path(of id: Int64) throws(RemoteStoreError) -> StoragePath? { try table.read { try $0.path(of: id) } }
}

extension PathStorageError {
    /// What it means where no more is known of what was asked.
    var general: RemoteStoreError {
        switch self {
        case .notAuthenticated: .notAuthenticated
        case .insufficientQuota: .insufficientQuota
        case .readOnly: .readOnly
        case .unavailable(let text): .itemUnavailable(text)
        case .refused(let text): .cannotSynchronize(text)
        case .unsupported(let text): .unsupported(text)
        case .cancelled: .cancelled
        case .busy(let seconds): .busy(seconds: seconds)
        case .notFound, .taken, .changed, .notEmpty, .unreachable: .serverUnreachable
        }
    }

    /// Whether a call that ended so may have had its effect.
    var isInDoubt: Bool {
        switch self {
        case .unreachable, .cancelled, .unavailable, .busy: true
        default: false
        }
    }
}
