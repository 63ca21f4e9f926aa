package import ReplicaModel

/// A storage that knows only paths, as S3, WebDAV, SFTP and rclone do: no identifiers, no lasting feed, no way to look up
/// a lost create. ``PathStore`` makes a `RemoteStore` of it.
///
/// All methods may be called at once from any number of tasks, also for one folder; never twice at once for one path.
/// Each may be repeated after a failure. What cannot be told is ``PathStorageError/unreachable(_:)``, so that it never
/// deletes.
package protocol PathStorage: Sendable {
    /// What it can keep and do. Constant.
    var properties: PathStorageProperties { get }

    /// What is at `path` now; nil is positive proof that nothing is.
    func entry(at path: StoragePath) async throws(PathStorageError) -> PathEntry?

    /// What is in a folder, page by page; nil starts. A failed listing throws, it never ends early.
    /// - Parameter isDeep: With all that is below, in any order; only where ``PathStorageProperties/listsDeep`` is true.
    /// - Throws: ``PathStorageError/notFound`` when `folder` is positively gone.
    func list(
        _ folder: StoragePath, isDeep: Bool, from page: EnumerationPage?
    ) async throws(PathStorageError) -> PathPage

    /// Reads `range` of a file's content, or all of it for nil.
    /// - Parameter version: The version wanted; nil for whatever is newest.
    /// - Returns: The entry that the bytes belong to.
    /// - Throws: ``PathStorageError/changed(_:)`` when the file has another version.
    func read(
        _ path: StoragePath, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(PathStorageError) -> PathEntry

    /// Writes a file whole: it is seen with all of `contents` or not at all. Never a blind overwrite.
    /// - Returns: The entry with the new version.
    /// - Throws: ``PathStorageError/taken(_:)``, ``PathStorageError/changed(_:)``, ``PathStorageError/notFound`` when the
    ///   folder above or, with ``WriteGuard/version(_:)``, the file is gone.
    func write(
        _ path: StoragePath, contents: ItemContents, attributes: PathAttributes, guard: WriteGuard
    ) async throws(PathStorageError) -> PathEntry

    /// Makes a folder or a symlink where nothing is.
    /// - Throws: ``PathStorageError/taken(_:)``, ``PathStorageError/notFound``.
    func make(
        _ path: StoragePath, kind: PathKind, attributes: PathAttributes
    ) async throws(PathStorageError) -> PathEntry

    /// Sets the attributes that are not nil. The content and its version stay, where the storage can do so.
    func set(_ attributes: PathAttributes, of path: StoragePath) async throws(PathStorageError) -> PathEntry

    /// Moves a file, a symlink or a folder with all that is in it; never over another.
    /// - Parameter version: That of a file as it was last seen; nil for all other kinds.
    /// - Throws: ``PathStorageError/taken(_:)``, ``PathStorageError/changed(_:)``, ``PathStorageError/notFound``.
    func move(
        _ path: StoragePath, to target: StoragePath, version: String?
    ) async throws(PathStorageError) -> PathEntry

    /// Removes a file or a symlink, or a folder in which nothing is. What is gone already is a success.
    /// - Parameter version: That of a file as it was last seen; nil for all other kinds.
    /// - Throws: ``PathStorageError/changed(_:)``, ``PathStorageError/notEmpty``.
    func remove(_ path: StoragePath, version: String?) async throws(PathStorageError)

    /// Yields a folder, or nil for anywhere, whenever something may have changed there; ends when it never will again.
    func signals() -> AsyncStream<StoragePath?>

    /// Returns when all that calls have made so far would survive a power cut of where it is kept.
    func makeDurable() async throws(PathStorageError)
}

/// What must be at a path before it is written.
package enum WriteGuard: Hashable, Sendable {
    /// Nothing.
    case absent
    /// A file of this version.
    case version(String)
}
