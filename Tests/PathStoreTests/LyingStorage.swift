import PathStore
import ReplicaModel
import ReplicaTestSupport

/// A storage that executes calls correctly, but whose answers a test can change.
struct LyingStorage: PathStorageWrapper {
    let storage: any PathStorage
    /// Changes the answer to a listing.
    var listed: @Sendable (StoragePath, EnumerationPage?, PathPage) throws(PathStorageError) -> PathPage = { $2 }
    /// Changes the answer about an entry.
    var told: @Sendable (StoragePath, PathEntry?) throws(PathStorageError) -> PathEntry? = { $1 }

    func entry(at path: StoragePath) async throws(PathStorageError) -> PathEntry? {
        try told(path, try await storage.entry(at: path))
    }

    func list(
        _ folder: StoragePath, isDeep: Bool, from page: EnumerationPage?
    ) async throws(PathStorageError) -> PathPage {
        // An invented page starts again.
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
}
