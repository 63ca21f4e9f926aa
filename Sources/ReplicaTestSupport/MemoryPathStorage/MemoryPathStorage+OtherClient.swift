package import PathStore
import ReplicaModel
import Threads

/// The changes of other clients of the same storage: signalled, but neither logged nor hooked. A step that is not
/// possible is a mistake in the test and traps.
extension MemoryPathStorage {
    /// Writes a file, creating or replacing it.
    package func put(_ content: [UInt8], at path: String, attributes: PathAttributes = PathAttributes()) {
        change(path) { $0.put(content, at: StoragePath(path), attributes, now: $1) }
    }

    /// Writes a file, creating or replacing it.
    package func put(_ text: String, at path: String) { put(Array(text.utf8), at: path) }

    /// Creates a folder or a symlink.
    package func add(_ kind: PathKind, at path: String) {
        change(path) { paths, _ in paths.make(kind, at: StoragePath(path), PathAttributes()) }
    }

    /// Moves an entry; an existing target is replaced, as by rename(2).
    package func move(_ path: String, to destination: String) {
        change(destination) { paths, _ in paths.move(StoragePath(path), to: StoragePath(destination)) }
        signal(StoragePath(path).parent)
    }

    /// Changes the attributes of an entry.
    package func change(_ attributes: PathAttributes, of path: String) {
        change(path) { paths, _ in
            guard var node = paths.nodes[StoragePath(path)] else { preconditionFailure("nothing at \(path)") }
            paths.take(attributes, into: &node)
            paths.nodes[StoragePath(path)] = node
        }
    }

    /// Removes an entry with everything in it.
    package func take(_ path: String) { change(path) { paths, _ in paths.remove(StoragePath(path)) } }

    private func change(_ path: String, _ body: (inout MemoryPaths, Int64) -> Void) {
        let now = now()
        paths.withLock { body(&$0, now) }
        signal(StoragePath(path).parent)
    }

    /// Adds an entry that no correct client could create: any names, without a folder.
    package func forge(_ kind: PathKind, at path: StoragePath, content: [UInt8] = []) {
        let now = now()
        paths.withLock { paths in
            if kind == .file { paths.put(content, at: path, PathAttributes(), now: now) }
            if kind != .file { paths.make(kind, at: path, PathAttributes()) }
        }
    }

    /// The entry at a path, as a call would return it.
    package func present(_ path: StoragePath) -> PathEntry? {
        let now = now()
        return paths.withLock { $0.entry(path, now: now) }
    }

    /// The content of a file; nil if there is none.
    package func content(at path: StoragePath) -> [UInt8]? {
        paths.withLock { paths in
            guard let node = paths.node(path), node.kind == .file else { return nil }
            return node.content
        }
    }

    /// All entries by path, except the root.
    package var entries: [StoragePath: (entry: PathEntry, content: [UInt8])] {
        let now = now()
        return paths.withLock { paths in
            var found: [StoragePath: (entry: PathEntry, content: [UInt8])] = [:]
            for (path, node) in paths.nodes {
                if let entry = paths.entry(path, now: now) { found[path] = (entry, node.content) }
            }
            return found
        }
    }

    /// The contents that were destroyed by unconditional changes, or by conditions that were checked too early.
    package var casualties: [(path: StoragePath, content: [UInt8])] {
        paths.withLock { $0.casualties.map { ($0.path, $0.content) } }
    }
}

/// A ``MemoryPathStorage``'s other client.
package struct MemoryPathClient: OtherClient {
    private let storage: MemoryPathStorage

    /// The other client of `storage`.
    package init(_ storage: MemoryPathStorage) {
        self.storage = storage
    }

    package func write(_ content: [UInt8], to path: String) async throws { storage.put(content, at: path) }

    package func makeFolder(_ path: String) async throws { storage.add(.folder, at: path) }

    package func move(_ path: String, to destination: String) async throws { storage.move(path, to: destination) }

    package func delete(_ path: String) async throws { storage.take(path) }

    package func content(at path: String) async throws -> [UInt8]? { storage.content(at: StoragePath(path)) }
}
