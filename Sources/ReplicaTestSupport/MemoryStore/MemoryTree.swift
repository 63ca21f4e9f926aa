import ReplicaModel

/// The contents of a ``MemoryStore``, without locks, calls or hooks. Deterministic: versions and identifiers are
/// counters.
struct MemoryTree {
    struct Node {
        var item: Item
        var content: [UInt8] = []
    }

    /// Invariant: every node except the root and the trash is in `children` of its parent, under its name.
    var nodes: [ItemIdentifier: Node] = [:]
    var children: [ItemIdentifier: [FileName: ItemIdentifier]] = [.root: [:], .trash: [:]]
    /// The items created from each template, also deleted ones.
    var templates: [ItemIdentifier: ItemIdentifier] = [:]
    /// All contents that a file ever had.
    var contentHistory: Set<[UInt8]> = []
    /// The content of each content version, also of former ones.
    var contentVersions: [String: [UInt8]] = [:]
    var properties = StoreProperties()
    /// The feed's reports about the contents of these.
    var rewritten: Set<ItemIdentifier> = []
    /// Whether the content version changes with every change.
    var hasOneVersion = false
    /// Whether the feed reports changes made through the store.
    var reportsOwnChanges = true
    var feed = MemoryFeed()
    var counter = 0

    init() {
        nodes[.root] = Node(item: special(.root))
        nodes[.trash] = Node(item: special(.trash))
    }

    private func special(_ identifier: ItemIdentifier) -> Item {
        Item(
            identifier: identifier, parent: .root, filename: FileName(identifier == .root ? "/" : "trash"),
            kind: .folder, version: ItemVersion(content: "", metadata: "m0"))
    }

    mutating func next() -> Int {
        counter += 1
        return counter
    }

    /// The node, or proof that there is none.
    func node(_ identifier: ItemIdentifier) throws(RemoteStoreError) -> Node {
        if identifier == .trash, !properties.keepsTrash { throw .unsupported("this store keeps no trash") }
        guard let node = nodes[identifier] else { throw .noSuchItem(identifier) }
        return node
    }

    func folder(_ identifier: ItemIdentifier) throws(RemoteStoreError) -> [FileName: ItemIdentifier] {
        guard try node(identifier).item.kind == .folder else {
            throw .cannotSynchronize("\(identifier) is not a folder")
        }
        return children[identifier] ?? [:]
    }

    /// The entry of `parent` that collides with `name`, with the store's case sensitivity.
    func occupant(
        of parent: ItemIdentifier, _ name: FileName, except own: ItemIdentifier?
    ) throws(RemoteStoreError) -> Node? {
        let entries = try folder(parent)
        if properties.isCaseSensitive {
            return entries[name].flatMap { $0 == own ? nil : nodes[$0] }
        }
        let wanted = name.description.lowercased()
        let found = entries.sorted { $0.key < $1.key }.first {
            $0.value != own && $0.key.description.lowercased() == wanted
        }
        return found.flatMap { nodes[$0.value] }
    }

    /// Adds a new node to its parent and reports it.
    mutating func insert(_ node: Node) {
        let identifier = node.item.identifier
        nodes[identifier] = node
        children[node.item.parent, default: [:]][node.item.filename] = identifier
        if node.item.kind == .folder { children[identifier] = [:] }
        if node.item.kind == .file { noteContent(of: identifier) }
        feed.report(identifier)
    }

    /// Removes a node and everything below it, and reports each.
    mutating func remove(_ identifier: ItemIdentifier) {
        for child in (children[identifier] ?? [:]).sorted(by: { $0.key < $1.key }) { remove(child.value) }
        children[identifier] = nil
        guard let node = nodes.removeValue(forKey: identifier) else { return }
        children[node.item.parent]?[node.item.filename] = nil
        feed.report(identifier)
    }

    /// Changes name, parent or both; the caller has checked for a collision.
    mutating func place(_ identifier: ItemIdentifier, in parent: ItemIdentifier, as name: FileName) {
        guard let old = nodes[identifier]?.item else { return }
        children[old.parent]?[old.filename] = nil
        children[parent, default: [:]][name] = identifier
        nodes[identifier]?.item.parent = parent
        nodes[identifier]?.item.filename = name
        touch(identifier)
    }

    /// Gives a file new content and a new content version.
    mutating func setContent(_ content: [UInt8], of identifier: ItemIdentifier) {
        let version = "c\(next())"
        nodes[identifier]?.content = content
        nodes[identifier]?.item.size = Int64(content.count)
        nodes[identifier]?.item.version.content = version
        noteContent(of: identifier)
        feed.report(identifier)
    }

    /// Gives a file new content under the same content version, like a rewrite that restores size and time.
    /// - Parameter isReported: Whether the feed reports it.
    mutating func rewrite(_ content: [UInt8], of identifier: ItemIdentifier, isReported: Bool) {
        precondition(nodes[identifier]?.content.count == content.count)
        nodes[identifier]?.content = content
        contentHistory.insert(content)
        if isReported { rewritten.insert(identifier) }
        touch(identifier)
    }

    private mutating func noteContent(of identifier: ItemIdentifier) {
        guard let node = nodes[identifier] else { return }
        contentHistory.insert(node.content)
        contentVersions[node.item.version.content] = node.content
    }

    /// Gives an item a new metadata version.
    mutating func touch(_ identifier: ItemIdentifier) {
        let version = "m\(next())"
        nodes[identifier]?.item.version.metadata = version
        if hasOneVersion, nodes[identifier]?.item.kind == .file {
            nodes[identifier]?.item.version.content = version
            noteContent(of: identifier)
        }
        feed.report(identifier)
    }

    /// Whether `identifier` is `folder` or below it.
    func isWithin(_ identifier: ItemIdentifier, _ folder: ItemIdentifier) -> Bool {
        var current = identifier
        while current != folder {
            guard current != .root, current != .trash, let node = nodes[current] else { return false }
            current = node.item.parent
        }
        return true
    }
}
