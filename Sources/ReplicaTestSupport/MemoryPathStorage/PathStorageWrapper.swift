package import PathStore
package import ReplicaModel

/// A path storage that passes all calls to another one; a test's wrapper implements only the calls that it changes.
package protocol PathStorageWrapper: PathStorage {
    /// The wrapped storage.
    var storage: any PathStorage { get }
}

extension PathStorageWrapper {
    package var properties: PathStorageProperties { storage.properties }

    package func entry(at path: StoragePath) async throws(PathStorageError) -> PathEntry? {
        try await storage.entry(at: path)
    }

    package func list(
        _ folder: StoragePath, isDeep: Bool, from page: EnumerationPage?
    ) async throws(PathStorageError) -> PathPage {
        try await storage.list(folder, isDeep: isDeep, from: page)
    }

    package func read(
        _ path: StoragePath, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(PathStorageError) -> PathEntry {
        try await storage.read(path, version: version, range: range, into: sink)
    }

    package func write(
        _ path: StoragePath, contents: ItemContents, attributes: PathAttributes, guard: WriteGuard
    ) async throws(PathStorageError) -> PathEntry {
        try await storage.write(path, contents: contents, attributes: attributes, guard: `guard`)
    }

    package func make(
        _ path: StoragePath, kind: PathKind, attributes: PathAttributes
    ) async throws(PathStorageError) -> PathEntry {
        try await storage.make(path, kind: kind, attributes: attributes)
    }

    package func set(_ attributes: PathAttributes, of path: StoragePath) async throws(PathStorageError) -> PathEntry {
        try await storage.set(attributes, of: path)
    }

    package func move(
        _ path: StoragePath, to target: StoragePath, version: String?
    ) async throws(PathStorageError) -> PathEntry {
        try await storage.move(path, to: target, version: version)
    }

    package func remove(_ path: StoragePath, version: String?) async throws(PathStorageError) {
        try await storage.remove(path, version: version)
    }

    package func signals() -> AsyncStream<StoragePath?> { storage.signals() }

    package func makeDurable() async throws(PathStorageError) { try await storage.makeDurable() }

    package func usage() async throws(PathStorageError) -> StoreUsage? { try await storage.usage() }
}
