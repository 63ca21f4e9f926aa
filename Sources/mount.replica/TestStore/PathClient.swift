import PathStore
import ReplicaModel
import ReplicaTestSupport

/// Another client of a path storage, which knows nothing of items.
struct PathClient: OtherClient {
    let storage: any PathStorage

    func write(_ content: [UInt8], to path: String) async throws {
        let path = place(path)
        let condition = try await storage.entry(at: path)?.version.map(WriteGuard.version) ?? .absent
        try await ItemContents.with(content) { contents async throws(RemoteStoreError) in
            do throws(PathStorageError) {
                _ = try await storage.write(path, contents: contents, attributes: PathAttributes(), guard: condition)
            } catch {
                throw .cannotSynchronize("the other client's write failed: \(error)")
            }
        }
    }

    func makeFolder(_ path: String) async throws {
        _ = try await storage.make(place(path), kind: .folder, attributes: PathAttributes())
    }

    func move(_ path: String, to destination: String) async throws {
        guard let entry = try await storage.entry(at: place(path)) else { throw BrokenPromise("nothing at \(path)") }
        let version = entry.kind == .file ? entry.version : nil
        _ = try await storage.move(place(path), to: place(destination), version: version)
    }

    func delete(_ path: String) async throws { try await delete(place(path)) }

    func content(at path: String) async throws -> [UInt8]? {
        guard let entry = try await storage.entry(at: place(path)), entry.kind == .file else { return nil }
        let buffer = ContentBuffer()
        _ = try await storage.read(place(path), version: nil, range: nil, into: buffer)
        return buffer.bytes
    }

    /// From the bottom up: storages only remove empty folders.
    func delete(_ path: StoragePath) async throws {
        guard let entry = try await storage.entry(at: path) else { return }
        if entry.kind == .folder {
            var page: EnumerationPage?
            var children: [PathEntry] = []
            repeat {
                let answer = try await storage.list(path, isDeep: false, from: page)
                children += answer.entries
                page = answer.next
            } while page != nil
            for child in children { try await delete(child.path) }
        }
        try await storage.remove(path, version: entry.kind == .file ? entry.version : nil)
    }

    private func place(_ path: String) -> StoragePath {
        StoragePath(path.split(separator: "/").map { FileName(String($0)) })
    }
}
