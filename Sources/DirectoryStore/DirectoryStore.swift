package import ReplicaModel
package import SystemPackage
import Threads

/// A store whose tree is an ordinary directory (`file:///path`), which other programs may read and write.
///
/// Its only own data on the disk are incoming files, under `.replica-tmp-*`, and `user.replica.*` attributes. An item's
/// identifier is its original inode and birth time (``InheritedIdentity``), or its place if the filesystem has no attributes
/// (``PlaceKeys``); its content version is size, modification time and inode. The change feed is inotify(7)'s and lives
/// as long as the store: anchors of an earlier process have expired.
///
/// A file appears complete and under its final name in one step, even if the daemon is killed. After a power cut, the
/// filesystem decides which of the changes since the last ``makeDurable()`` survive: nothing is synced per file.
package final class DirectoryStore: RemoteStore {
    /// The number of concurrent calls. More threads gain nothing on local disks, and cost much on slow network mounts.
    static let concurrency = 8

    package let properties: StoreProperties
    let tree: DirectoryTree
    private let pool: WorkerPool
    private let isStopped = Locked(false)

    package var executor: (any TaskExecutor)? { pool }

    /// Opens the directory at `path`. A missing directory is never created: its contents may be elsewhere.
    /// - Parameter memory: The file for the identifiers of renamed items, if the directory's filesystem can't store
    ///   them; for a single user of the store. Nil to keep them in memory only.
    /// - Throws: ``RemoteStoreError/cannotSynchronize(_:)`` with the reason why the directory can't be used.
    package convenience init(path: String, memory: FilePath? = nil) throws(RemoteStoreError) {
        try self.init(path: path, memory: memory, temporaryLife: TemporaryName.longestLife)
    }

    /// Creates an empty directory for a new store; its parent must exist.
    /// - Throws: ``RemoteStoreError/cannotSynchronize(_:)`` with the reason why it can't be created.
    package static func makeDirectory(_ path: String, mode: UInt16) throws(RemoteStoreError) {
        try DirectoryTree.makeDirectory(path, mode: mode)
    }

    /// Tests set the age at which temporary files are removed, the features of the filesystem, and the interval of
    /// listings without change notification.
    init(
        path: String, memory: FilePath? = nil, temporaryLife: Duration = TemporaryName.longestLife,
        abilities: FileSystemAbilities? = nil, relistInterval: RelistInterval? = nil
    ) throws(RemoteStoreError) {
        tree = try DirectoryTree(
            path: path, memory: memory, temporaryLife: temporaryLife, abilities: abilities,
            relistInterval: relistInterval)
        var properties = tree.abilities.properties
        properties.concurrency = Self.concurrency
        properties.reportsEveryContentChange = false
        self.properties = properties
        // Twice as many, so that requests that a program waits for never queue behind uploads.
        pool = WorkerPool(count: 2 * Self.concurrency)
        InotifyThread.start(tree, isStopped: isStopped)
    }

    deinit {
        isStopped.withLock { $0 = true }
        tree.watches.wake()
        tree.listeners.finish()
    }

    package func item(_ identifier: ItemIdentifier) async throws(RemoteStoreError) -> Item {
        try await pool.run { [tree] _ throws(RemoteStoreError) in try tree.item(identifier) }
    }

    package func enumerateItems(
        in folder: ItemIdentifier, from page: EnumerationPage?
    ) async throws(RemoteStoreError) -> ItemPage {
        try await pool.run { [tree] _ throws(RemoteStoreError) in try tree.enumerate(folder, from: page) }
    }

    package func recognize(_ anchor: SyncAnchor) async throws(RemoteStoreError) {
        try await pool.run { [tree] _ throws(RemoteStoreError) in try tree.recognize(anchor) }
    }

    package func currentAnchor() async throws(RemoteStoreError) -> SyncAnchor {
        try await pool.run { [tree] _ throws(RemoteStoreError) in try tree.currentAnchor() }
    }

    package func enumerateChanges(from anchor: SyncAnchor) async throws(RemoteStoreError) -> ChangeBatch {
        try await pool.run { [tree] _ throws(RemoteStoreError) in try tree.changes(from: anchor) }
    }

    package func fetchContents(
        of identifier: ItemIdentifier, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(RemoteStoreError) -> Item {
        try await pool.run { [tree] flag throws(RemoteStoreError) in
            try tree.fetch(identifier, version: version, range: range, into: sink, flag)
        }
    }

    package func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        try await pool.run { [tree] flag throws(RemoteStoreError) in
            try tree.create(template, fields, contents, options, flag)
        }
    }

    package func itemCreated(from template: ItemTemplate) async throws(RemoteStoreError) -> Item? {
        try await pool.run { [tree] _ throws(RemoteStoreError) in try tree.created(from: template) }
    }

    package func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        try await pool.run { [tree] flag throws(RemoteStoreError) in
            try tree.modify(template, base, changedFields, contents, flag)
        }
    }

    package func deleteItem(
        _ identifier: ItemIdentifier, base: ItemVersion
    ) async throws(RemoteStoreError) {
        try await pool.run { [tree] _ throws(RemoteStoreError) in
            try tree.delete(identifier, base: base)
        }
    }

    package func signals() -> AsyncStream<Void> { tree.listeners.stream() }

    package func makeDurable() async throws(RemoteStoreError) {
        try await pool.run { [tree] _ throws(RemoteStoreError) in try tree.syncToDisk() }
    }

    package func usage() async throws(RemoteStoreError) -> StoreUsage? {
        try await pool.run { [tree] _ throws(RemoteStoreError) in try tree.usage() }
    }

    package func importDidFinish() async {}
}
