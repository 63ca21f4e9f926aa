public import ReplicaModel
import Threads

/// The changes of another client of the same store: signalled, but neither logged nor hooked. Paths are names with `/`
/// between them; "" is the root. A step that is not possible is a mistake in the test and traps.
extension MemoryStore {
    /// Writes a file, making it and its folders as needed.
    @discardableResult
    public func write(_ text: String, to path: String) -> Item { write(Array(text.utf8), to: path) }

    /// Writes a file, making it and its folders as needed.
    @discardableResult
    public func write(_ content: [UInt8], to path: String) -> Item {
        change { tree in
            let (folder, name) = tree.makeFolders(above: path)
            if let old = tree.children[folder]?[name] {
                tree.setContent(content, of: old)
                return old
            }
            return tree.add(.file, to: folder, name, content: content)
        }
    }

    /// Writes a file of the same size under the same content version.
    /// - Parameter isReported: Whether the feed reports it.
    @discardableResult
    public func rewrite(_ text: String, at path: String, isReported: Bool) -> Item {
        change { tree in
            let (folder, name) = tree.makeFolders(above: path)
            let identifier = tree.children[folder]?[name] ?? .root
            tree.rewrite(Array(text.utf8), of: identifier, isReported: isReported)
            return identifier
        }
    }

    /// Creates a folder and its parents, if they don't exist.
    @discardableResult
    public func makeFolder(_ path: String) -> Item {
        change { tree in
            let (folder, name) = tree.makeFolders(above: path)
            return tree.children[folder]?[name] ?? tree.add(.folder, to: folder, name)
        }
    }

    /// Makes a symlink.
    @discardableResult
    public func makeSymlink(_ path: String, to target: String) -> Item {
        change { tree in
            let (folder, name) = tree.makeFolders(above: path)
            return tree.add(.symlink, to: folder, name, target: Array(target.utf8))
        }
    }

    /// Adds an item of any name, also one that no correct client could create.
    @discardableResult
    public func add(
        _ kind: ItemKind, to folder: ItemIdentifier, _ name: FileName, content: [UInt8] = [], target: [UInt8]? = nil
    ) -> Item {
        change { $0.add(kind, to: folder, name, content: content, target: target) }
    }

    /// Gives a file new content.
    @discardableResult
    public func write(_ content: [UInt8], to identifier: ItemIdentifier) -> Item {
        change {
            $0.setContent(content, of: identifier)
            return identifier
        }
    }

    /// Moves an item to another path. An existing target is deleted first, as by rename(2).
    @discardableResult
    public func move(_ path: String, to destination: String) -> Item {
        let identifier = existing(path).identifier
        return change { tree in
            let (folder, name) = tree.makeFolders(above: destination)
            if let old = tree.children[folder]?[name], old != identifier { tree.remove(old) }
            tree.place(identifier, in: folder, as: name)
            return identifier
        }
    }

    /// Moves an item; the place must be free.
    @discardableResult
    public func move(_ identifier: ItemIdentifier, to folder: ItemIdentifier, as name: FileName) -> Item {
        change {
            $0.place(identifier, in: folder, as: name)
            return identifier
        }
    }

    /// Changes an item's metadata.
    @discardableResult
    public func update(_ path: String, _ body: (inout ItemMetadata) -> Void) -> Item {
        let identifier = existing(path).identifier
        return change { tree in
            if var node = tree.nodes[identifier] {
                body(&node.item.metadata)
                tree.nodes[identifier] = node
            }
            tree.touch(identifier)
            return identifier
        }
    }

    /// Sets the capabilities of an item.
    @discardableResult
    public func allow(_ capabilities: Capabilities, of path: String) -> Item {
        let identifier = existing(path).identifier
        return change { tree in
            tree.nodes[identifier]?.item.capabilities = capabilities
            tree.touch(identifier)
            return identifier
        }
    }

    /// Deletes an item with everything below it.
    public func delete(_ path: String) { delete(existing(path).identifier) }

    /// Deletes an item with everything below it; does nothing if it is unknown.
    public func delete(_ identifier: ItemIdentifier) {
        tree.withLock { $0.remove(identifier) }
        signal()
    }

    private func change(_ body: (inout MemoryTree) -> ItemIdentifier) -> Item {
        let item = tree.withLock { tree in
            let identifier = body(&tree)
            guard let item = tree.nodes[identifier]?.item else { preconditionFailure("no item \(identifier)") }
            return item
        }
        signal()
        return item
    }
}

extension MemoryTree {
    /// Creates the parent folders of `path`.
    fileprivate mutating func makeFolders(above path: String) -> (folder: ItemIdentifier, name: FileName) {
        let names = path.split(separator: "/").map { FileName(String($0)) }
        guard let last = names.last else { preconditionFailure("the root has no name") }
        var folder = ItemIdentifier.root
        for name in names.dropLast() {
            folder = children[folder]?[name] ?? add(.folder, to: folder, name)
        }
        return (folder, last)
    }

    fileprivate mutating func add(
        _ kind: ItemKind, to folder: ItemIdentifier, _ name: FileName, content: [UInt8] = [], target: [UInt8]? = nil
    ) -> ItemIdentifier {
        precondition(children[folder]?[name] == nil, "\(name) is there already")
        let number = next()
        let version = ItemVersion(content: kind == .file ? "c\(number)" : "", metadata: "m\(number)")
        let item = Item(
            identifier: ItemIdentifier("i\(number)"), parent: folder, filename: name, kind: kind, version: version,
            size: Int64(content.count), target: target)
        insert(Node(item: item, content: content))
        return item.identifier
    }
}
