import PathStore
import ReplicaModel

/// A storage that does what its words say, and tells what a test wants it to tell.
struct LyingStorage: PathStorage {
    let storage: any PathStorage
    /// What becomes of an answer to a listing.
    var listed: @Sendable (StoragePath, EnumerationPage?, PathPage) throws(PathStorageError) -> PathPage = { $2 }
    /// What becomes of the answer to a question.
    var told: @Sendable (StoragePath, PathEntry?) throws(PathStorageError) -> PathEntry? = { $1 }

    var properties: PathStorageProperties { storage.properties }

    func entry(at path: StoragePath) async throws(PathStorageError) -> PathEntry? {
        try told(path, try await storage.entry(at: path))
    }

    func list(
        _ folder: StoragePath, isDeep: Bool, from page: EnumerationPage?
    ) async throws(PathStorageError) -> PathPage {
        // A page of its own invention begins anew.
        let known = page.flatMap { $0.bytes.first == 0xFF ? nil : $0 }
        return try listed(folder, page, try await storage.list(folder, isDeep: isDeep, from: known))
    }

    func read(
        _ path: StoragePath, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(PathStorageError) -> PathEntry {
        let entry = try await storage.read(path, version: nil, range: range, into: sink)
        let told = try told(path, entry)
        if let version, told?.version != version { throw .changed(told) }
        return told ?? entry
    }

    func write(
        _ path: StoragePath, contents: ItemContents, attributes: PathAttributes, guard condition: WriteGuard
    ) async throws(PathStorageError) -> PathEntry {
        try await storage.write(path, contents: contents, attributes: attributes, guard: condition)
    }

    func make(
        _ path: StoragePath, kind: PathKind, attributes: PathAttributes
    ) async throws(PathStorageError) -> PathEntry {
        try await storage.make(path, kind: kind, attributes: attributes)
    }

    func set(_ attributes: PathAttributes, of path: StoragePath) async throws(PathStorageError) -> PathEntry {
        try await storage.set(attributes, of: path)
    }

    func move(
        _ path: StoragePath, to target: StoragePath, version: String?
    ) async throws(PathStorageError) -> PathEntry {
        try await storage.move(path, to: target, version: version)
    }

    func remove(_ path: StoragePath, version: String?) async throws(PathStorageError) {
        try await storage.remove(path, version: version)
    }

    func signals() -> AsyncStream<StoragePath?> { storage.signals() }

    func makeDurable() async throws(PathStorageError) { try await storage.makeDurable() }
}
