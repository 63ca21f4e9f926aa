package import ReplicaModel

/// A storage that knows only paths, such as S3, WebDAV, SFTP and rclone: without identifiers, a durable feed, or a way to
/// look up a lost create. ``PathStore`` makes a `RemoteStore` of it.
///
/// All methods may be called concurrently, also for the same folder, but never twice at once for the same path. Each
/// may be repeated after a failure. If the result is unknown, they throw ``PathStorageError/unreachable(_:)``, which
/// never leads to a deletion.
package protocol PathStorage: Sendable {
    /// Its features. Constant.
    var properties: PathStorageProperties { get }

    /// The entry at `path`. Nil proves that there is none.
    func entry(at path: StoragePath) async throws(PathStorageError) -> PathEntry?

    /// The entries of a folder, page by page; nil starts. A listing that fails throws; it never ends early.
    /// - Parameter isDeep: With everything below, in any order; only if ``PathStorageProperties/listsDeep`` is true.
    /// - Throws: ``PathStorageError/notFound`` if `folder` is definitely gone.
    func list(
        _ folder: StoragePath, isDeep: Bool, from page: EnumerationPage?
    ) async throws(PathStorageError) -> PathPage

    /// Reads `range` of a file's content, or all of it for nil.
    /// - Parameter version: The requested version; nil for the newest.
    /// - Returns: The entry that the bytes belong to.
    /// - Throws: ``PathStorageError/changed(_:)`` if the file has another version.
    func read(
        _ path: StoragePath, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(PathStorageError) -> PathEntry

    /// Writes a file atomically, and never replaces an unexpected one.
    /// - Returns: The entry with the new version.
    /// - Throws: ``PathStorageError/taken(_:)``, ``PathStorageError/changed(_:)``, ``PathStorageError/notFound`` if the
    ///   parent folder is gone or, with ``WriteGuard/version(_:)``, the file.
    func write(
        _ path: StoragePath, contents: ItemContents, attributes: PathAttributes, guard: WriteGuard
    ) async throws(PathStorageError) -> PathEntry

    /// Creates a folder or a symlink; replaces nothing.
    /// - Throws: ``PathStorageError/taken(_:)``, ``PathStorageError/notFound``.
    func make(
        _ path: StoragePath, kind: PathKind, attributes: PathAttributes
    ) async throws(PathStorageError) -> PathEntry

    /// Sets the attributes that are not nil. The content and, if the storage can do so, its version stay unchanged.
    func set(_ attributes: PathAttributes, of path: StoragePath) async throws(PathStorageError) -> PathEntry

    /// Moves a file, a symlink or a folder with its contents; never replaces another.
    /// - Parameter version: The last known version of a file; nil for all other kinds.
    /// - Throws: ``PathStorageError/taken(_:)``, ``PathStorageError/changed(_:)``, ``PathStorageError/notFound``.
    func move(
        _ path: StoragePath, to target: StoragePath, version: String?
    ) async throws(PathStorageError) -> PathEntry

    /// Removes a file, a symlink or an empty folder. Succeeds if it is already gone.
    /// - Parameter version: The last known version of a file; nil for all other kinds.
    /// - Throws: ``PathStorageError/changed(_:)``, ``PathStorageError/notEmpty``.
    func remove(_ path: StoragePath, version: String?) async throws(PathStorageError)

    /// Yields a folder, or nil for anywhere, whenever something may have changed there; ends when there will be no more
    /// signals.
    func signals() -> AsyncStream<StoragePath?>

    /// Returns when all acknowledged changes would survive a power cut of the storage.
    func makeDurable() async throws(PathStorageError)

    /// The space for this user; nil if it is not known. Only called if ``PathStorageProperties/tellsUsage`` is true.
    func usage() async throws(PathStorageError) -> StoreUsage?
}

extension PathStorage {
    package func usage() async throws(PathStorageError) -> StoreUsage? { nil }
}

/// The condition for a write.
package enum WriteGuard: Hashable, Sendable {
    /// Nothing is there.
    case absent
    /// A file of this version is there.
    case version(String)
}
