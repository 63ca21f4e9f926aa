public import ReplicaModel
import Threads

/// A test's queries of the store: neither logged nor hooked.
extension MemoryStore {
    /// One item with its content, for comparisons.
    public struct Entry: Hashable, Sendable {
        public var item: Item
        /// Empty for folders and symlinks.
        public var content: [UInt8]
    }

    /// Everything in the store by path, without the root and the trash. Invalid UTF-8 in names becomes U+FFFD.
    public var entries: [String: Entry] {
        tree.withLock { tree in
            var found: [String: Entry] = [:]
            var open: [(ItemIdentifier, String)] = [(.root, "")]
            while let (folder, path) = open.popLast() {
                for (name, identifier) in tree.children[folder] ?? [:] {
                    guard let node = tree.nodes[identifier] else { continue }
                    let inner = path.isEmpty ? name.description : "\(path)/\(name)"
                    found[inner] = Entry(item: node.item, content: node.content)
                    if node.item.kind == .folder { open.append((identifier, inner)) }
                }
            }
            return found
        }
    }

    /// The item at `path`, if there is one; "" is the root.
    public func item(at path: String) -> Item? {
        tree.withLock { tree in
            var current = ItemIdentifier.root
            for name in path.split(separator: "/") {
                guard let next = tree.children[current]?[FileName(String(name))] else { return nil }
                current = next
            }
            return tree.nodes[current]?.item
        }
    }

    /// The content of the file at `path`, if there is one.
    public func content(at path: String) -> [UInt8]? {
        guard let item = item(at: path), item.kind == .file else { return nil }
        return content(of: item.identifier)
    }

    /// The content of an item, if there is one.
    public func content(of identifier: ItemIdentifier) -> [UInt8]? {
        tree.withLock { $0.nodes[identifier]?.content }
    }

    /// The content of the file at `path` as text; nil if there is none.
    public func text(at path: String) -> String? { content(at: path).map { String(decoding: $0, as: UTF8.self) } }

    /// All contents that any file ever had, also of deleted files.
    public var contentHistory: Set<[UInt8]> { tree.withLock { $0.contentHistory } }

    /// Whether any file ever had exactly this content.
    public func everHeld(_ content: [UInt8]) -> Bool { tree.withLock { $0.contentHistory.contains(content) } }

    func existing(_ path: String) -> Item {
        guard let item = item(at: path) else { preconditionFailure("no item at \(path)") }
        return item
    }
}
