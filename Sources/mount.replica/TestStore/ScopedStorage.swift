import PathStore
import ReplicaModel

/// A folder of a storage as a separate storage: everything outside is left unchanged.
struct ScopedStorage: PathStorage {
    let storage: any PathStorage
    /// Its root.
    let folder: StoragePath

    var properties: PathStorageProperties { storage.properties }

    func entry(at path: StoragePath) async throws(PathStorageError) -> PathEntry? {
        do throws(PathStorageError) { return try await storage.entry(at: outer(path)).map(inner) } catch {
            throw inner(error)
        }
    }

    func list(
        _ folder: StoragePath, isDeep: Bool, from page: EnumerationPage?
    ) async throws(PathStorageError) -> PathPage {
        let answer = try await storage.list(outer(folder), isDeep: isDeep, from: page)
        return PathPage(entries: answer.entries.map(inner), next: answer.next, leftOut: answer.leftOut)
    }

    func read(
        _ path: StoragePath, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(PathStorageError) -> PathEntry {
        try await said { () async throws(PathStorageError) in
            try await storage.read(outer(path), version: version, range: range, into: sink)
        }
    }

    func write(
        _ path: StoragePath, contents: ItemContents, attributes: PathAttributes, guard: WriteGuard
    ) async throws(PathStorageError) -> PathEntry {
        try await said { () async throws(PathStorageError) in
            try await storage.write(outer(path), contents: contents, attributes: attributes, guard: `guard`)
        }
    }

    func make(
        _ path: StoragePath, kind: PathKind, attributes: PathAttributes
    ) async throws(PathStorageError) -> PathEntry {
        try await said { () async throws(PathStorageError) in
            try await storage.make(outer(path), kind: kind, attributes: attributes)
        }
    }

    func set(_ attributes: PathAttributes, of path: StoragePath) async throws(PathStorageError) -> PathEntry {
        try await said { () async throws(PathStorageError) in try await storage.set(attributes, of: outer(path)) }
    }

    func move(
        _ path: StoragePath, to target: StoragePath, version: String?
    ) async throws(PathStorageError) -> PathEntry {
        try await said { () async throws(PathStorageError) in
            try await storage.move(outer(path), to: outer(target), version: version)
        }
    }

    func remove(_ path: StoragePath, version: String?) async throws(PathStorageError) {
        do throws(PathStorageError) { try await storage.remove(outer(path), version: version) } catch {
            throw inner(error)
        }
    }

    func signals() -> AsyncStream<StoragePath?> {
        let all = storage.signals()
        return AsyncStream { continuation in
            let task = Task {
                for await path in all {
                    let isInside = path.map { $0.names.starts(with: folder.names) } ?? false
                    continuation.yield(isInside ? path.map(inner) : nil)
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    func makeDurable() async throws(PathStorageError) { try await storage.makeDurable() }

    func usage() async throws(PathStorageError) -> StoreUsage? { try await storage.usage() }

    private func said(
        _ call: () async throws(PathStorageError) -> PathEntry
    ) async throws(PathStorageError) -> PathEntry {
        do throws(PathStorageError) { return inner(try await call()) } catch { throw inner(error) }
    }

    private func outer(_ path: StoragePath) -> StoragePath { StoragePath(folder.names + path.names) }

    private func inner(_ path: StoragePath) -> StoragePath {
        StoragePath(Array(path.names.dropFirst(folder.names.count)))
    }

    private func inner(_ entry: PathEntry) -> PathEntry {
        var entry = entry
        entry.path = inner(entry.path)
        return entry
    }

    private func inner(_ error: PathStorageError) -> PathStorageError {
        switch error {
        case .taken(let entry): .taken(entry.map(inner))
        case .changed(let entry): .changed(entry.map(inner))
        default: error
        }
    }
}
