internal import GRDB
package import ReplicaModel
internal import Threads

/// A store over any storage that only knows paths: it assigns permanent identifiers and versions, detects changes by
/// comparison, and determines the outcome of calls whose answers were lost (docs/decisions/path-store.md).
///
/// Its state is a table in a separate file, written by one `PathStore` at a time. If the file is lost, no data is lost:
/// everything is listed again under new identifiers.
///
/// Large: all calls of a store, with a file for each group.
package final class PathStore: RemoteStore {
    let storage: any PathStorage
    let table: PathTable
    let options: PathStoreOptions
    /// The folder for the table and for temporary files.
    let folder: String
    let locks = PathLocks()
    /// Allows one comparison at a time.
    let comparing = PathLocks()
    let activity: Locked<RecentActivity>
    let rootMemory: Locked<RootMemory>
    /// The intents of calls in flight in this process.
    let underWay = Locked<Set<Int64>>([])
    /// Versions written by unanswered calls, by item: the caller that repeats them does not know these versions.
    let passed = Locked<[Int64: PassedVersion]>([:])
    let listeners = Listeners<Void>()
    /// The task that listens to the storage and polls it, as long as this object lives.
    let hearings = Locked<[Task<Void, Never>]>([])

    /// A store over `storage` that keeps its table in `folder`, which must exist: a domain's state folder.
    /// - Throws: ``RemoteStoreError/itemUnavailable(_:)`` if the table can't be opened or created.
    package init(
        _ storage: any PathStorage, folder: String, options: PathStoreOptions = PathStoreOptions()
    ) throws(RemoteStoreError) {
        self.storage = storage
        self.options = options
        self.folder = folder
        table = try PathTable(path: folder + "/store.db")
        activity = Locked(RecentActivity())
        rootMemory = Locked(try Self.rememberedRoot(table))
        // It is unknown how long ago an unsettled version was seen: the time starts now.
        let now = options.now()
        try table.write { database in
            try database.execute(sql: "UPDATE item SET seenAt = ? WHERE seenAt IS NOT NULL", arguments: [now])
        }
    }

    deinit {
        for task in hearings.withLock({ $0 }) { task.cancel() }
    }

    package var properties: StoreProperties { Self.properties(of: storage) }

    /// The properties of a store over `storage`.
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

    package func usage() async throws(RemoteStoreError) -> StoreUsage? {
        guard storage.properties.tellsUsage else { return nil }
        do throws(PathStorageError) { return try await storage.usage() } catch { throw error.general }
    }

    package func importDidFinish() async {}

    /// Closes the table: later calls fail.
    package func close() throws(RemoteStoreError) { try table.close() }

    /// Whether two writes may produce the same version.
    var hasGrain: Bool { storage.properties.changeGrain > 0 }

    /// Whether only folders with changed versions have to be compared.
    var followsFolders: Bool { storage.properties.foldersTellChanges && !hasGrain }
}

/// A version that was written by a call of ours whose answer was lost.
struct PassedVersion: Hashable, Sendable {
    /// The version that the call was based on, and those that it and lost calls before it have passed.
    var bases: Set<String>
    /// The token of its content.
    var token: String
    /// The hash of what it wrote.
    var hash: [UInt8]?
}

extension ItemIdentifier {
    init(row: Int64) {
        let digits = String(row, radix: 16)
        self.init(
            row == PathRow.root ? Self.root.rawValue : "i" + String(repeating: "0", count: 16 - digits.count) + digits)
    }

    /// The number of a row; nil if it is not an identifier of this store.
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
    /// - Throws: ``RemoteStoreError/noSuchItem(_:)`` if there is none: the table is complete.
    func known(_ identifier: ItemIdentifier) throws(RemoteStoreError) -> PathRow {
        if identifier == .trash { throw .unsupported("this store keeps no trash") }
        guard let id = identifier.row, let row = try table.read({ try $0.row(id) }) else {
            throw .noSuchItem(identifier)
        }
        return row
    }

    /// The path of a row; nil if it is not known.
    func path(of id: Int64) throws(RemoteStoreError) -> StoragePath? { try table.read { try $0.path(of: id) } }
}

extension PathStorageError {
    /// The store's error, if nothing else is known about the request.
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

    /// Whether a call with this error may have had an effect.
    var isInDoubt: Bool {
        switch self {
        case .unreachable, .cancelled, .unavailable, .busy: true
        default: false
        }
    }
}
