package import PathStore
import ReplicaModel
import Threads

/// What other clients of the same storage do: not noted, not hooked, and signalled. A step that cannot be done is a mistake
/// of the test and traps.
extension MemoryPathStorage {
    /// Writes a file, creating or replacing it.
    package func put(_ content: [UInt8], at path: String, attributes: PathAttributes = PathAttributes()) {
        change(path) { $0.put(content, at: StoragePath(path), attributes, now: $1) }
    }

    /// Writes a file, creating or replacing it.
    package func put(_ text: String, at path: String) { put(Array(text.utf8), at: path) }

    /// Makes a folder, or a symlink.
    package func add(_ kind: PathKind, at path: String) {
        change(path) { paths, _ in paths.make(kind, at: StoragePath(path), PathAttributes()) }
    }

    /// Moves something; what stands at the destination goes, as rename(2) has it.
    package func move(_ path: String, to destination: String) {
        change(destination) { paths, _ in paths.move(StoragePath(path), to: StoragePath(destination)) }
        signal(StoragePath(path).parent)
    }

    /// Changes the attributes of something.
    package func change(_ attributes: PathAttributes, of path: String) {
        change(path) { paths, _ in
            guard var node = paths.nodes[StoragePath(path)] else { preconditionFailure("nothing at \(path)") }
            paths.take(attributes, into: &node)
            paths.nodes[StoragePath(path)] = node
        }
    }

    /// Removes something with all that is in it.
    package func take(_ path: String) { change(path) { paths, _ in paths.remove(StoragePath(path)) } }

    private func change(_ path: String, _ body: (inout MemoryPaths, Int64) -> Void) {
        let now = now()
        paths.withLock { body(&$0, now) }
        signal(StoragePath(path).parent)
    }

    /// Puts something there that no honest client could: any names, in no folder.
    package func forge(_ kind: PathKind, at path: StoragePath, content: [UInt8] = []) {
        let now = now()
        paths.withLock { paths in
            if kind == .file { paths.put(content, at: path, PathAttributes(), now: now) }
            if kind != .file { paths.make(kind, at: path, PathAttributes()) }
        }
    }

    /// What is at a path, as a call would tell it.
    package func present(_ path: StoragePath) -> PathEntry? {
        let now = now()
        return paths.withLock { $0.entry(path, now: now) }
    }

    /// What is in a file; nil where there is none.
    package func content(at path: StoragePath) -> [UInt8]? {
        paths.withLock { paths in
            guard let node = paths.node(path), node.kind == .file else { return nil }
            return node.content
        }
    }

    /// All that is there by path, but for the root.
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

    /// What acts destroyed that looked for nothing, or looked too early: contents that no call was about.
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
