import ReplicaModel

/// A ``MemoryStore``'s other client.
public struct MemoryClient: OtherClient {
    private let store: MemoryStore

    /// The other client of `store`.
    public init(_ store: MemoryStore) {
        self.store = store
    }

    public func write(_ content: [UInt8], to path: String) async throws { store.write(content, to: path) }

    public func makeFolder(_ path: String) async throws { store.makeFolder(path) }

    public func move(_ path: String, to destination: String) async throws { store.move(path, to: destination) }

    public func delete(_ path: String) async throws { store.delete(path) }

    public func content(at path: String) async throws -> [UInt8]? { store.content(at: path) }
}
