import ReplicaModel

/// The protocol's changing requests, each atomic.
extension MemoryTree {
    mutating func create(
        _ template: ItemTemplate, _ fields: ItemFields, _ content: [UInt8]?, _ options: CreateOptions
    ) throws(RemoteStoreError) -> StoreResult {
        try checkName(template.filename)
        if template.kind == .symlink, !properties.keepsSymlinks { throw .unsupported("symlinks") }
        if let other = try occupant(of: template.parent, template.filename, except: nil) {
            guard options.contains(.mayAlreadyExist), matches(other, template, content) else {
                throw .filenameCollision(other.item)
            }
            templates[template.identifier] = other.item.identifier
            return StoreResult(item: other.item)
        }
        let number = next()
        let isFile = template.kind == .file
        var item = Item(
            identifier: ItemIdentifier("i\(number)"), parent: template.parent, filename: template.filename,
            kind: template.kind,
            version: ItemVersion(content: isFile ? "c\(number)" : "", metadata: "m\(number)"),
            size: Int64(content?.count ?? 0), target: template.kind == .symlink ? template.target ?? [] : nil)
        item.metadata.take(fields.intersection(properties.fields), from: template.metadata)
        insert(Node(item: item, content: content ?? []))
        templates[template.identifier] = item.identifier
        return StoreResult(item: item, stillPending: unkept(fields))
    }

    mutating func modify(
        _ template: ItemTemplate, _ base: ItemVersion, _ fields: ItemFields, _ content: [UInt8]?
    ) throws(RemoteStoreError) -> StoreResult {
        let identifier = template.identifier
        let old = try node(identifier).item
        if fields.contains(.contents) {
            guard old.kind == .file else { throw .cannotSynchronize("only files have contents") }
            guard old.version.content == base.content else { throw .versionConflict(old) }
        }
        let parent = fields.contains(.parent) ? template.parent : old.parent
        let name = fields.contains(.filename) ? template.filename : old.filename
        if parent != old.parent || name != old.filename {
            try checkPlace(identifier, parent, name)
            place(identifier, in: parent, as: name)
        }
        if let content { setContent(content, of: identifier) }
        let kept = fields.intersection(properties.fields).intersection(.metadata)
        if !kept.isEmpty {
            nodes[identifier]?.item.metadata.take(kept, from: template.metadata)
            touch(identifier)
        }
        let isOther = content == nil && old.version.content != base.content
        return StoreResult(
            item: try node(identifier).item, stillPending: unkept(fields), shouldFetchContent: isOther)
    }

    mutating func delete(
        _ identifier: ItemIdentifier, _ base: ItemVersion
    ) throws(RemoteStoreError) {
        guard identifier != .root, identifier != .trash else { throw .deletionRejected(nodes[identifier]?.item) }
        guard let item = nodes[identifier]?.item else { return }
        if item.kind == .file, item.version.content != base.content { throw .deletionRejected(item) }
        if item.kind == .folder, children[identifier]?.isEmpty == false {
            throw .directoryNotEmpty(identifier)
        }
        remove(identifier)
    }

    /// Gives all items new identifiers, like a server that was restored from a backup (statement 29).
    mutating func reassignIdentifiers() {
        var renamed: [ItemIdentifier: ItemIdentifier] = [.root: .root, .trash: .trash]
        for old in nodes.keys.sorted(by: { $0.rawValue < $1.rawValue }) where renamed[old] == nil {
            renamed[old] = ItemIdentifier("i\(next())")
        }
        var moved: [ItemIdentifier: Node] = [:]
        for (old, node) in nodes {
            var node = node
            node.item.identifier = renamed[old] ?? old
            node.item.parent = renamed[node.item.parent] ?? node.item.parent
            moved[node.item.identifier] = node
        }
        nodes = moved
        children = Dictionary(
            uniqueKeysWithValues: children.map { (renamed[$0] ?? $0, $1.mapValues { renamed[$0] ?? $0 }) })
        templates = templates.mapValues { renamed[$0] ?? $0 }
        feed.expire()
    }

    private func unkept(_ fields: ItemFields) -> ItemFields {
        fields.intersection(.metadata).subtracting(properties.fields)
    }

    private func checkName(_ name: FileName) throws(RemoteStoreError) {
        guard name.isValid, name.bytes.count <= properties.longestName else {
            throw .cannotSynchronize("the store cannot keep a name of this form")
        }
    }

    private func checkPlace(
        _ identifier: ItemIdentifier, _ parent: ItemIdentifier, _ name: FileName
    ) throws(RemoteStoreError) {
        try checkName(name)
        if let other = try occupant(of: parent, name, except: identifier) { throw .filenameCollision(other.item) }
        if identifier == .root || identifier == .trash || isWithin(parent, identifier) {
            throw .cannotSynchronize("a folder can't be moved into itself")
        }
    }

    private func matches(_ other: Node, _ template: ItemTemplate, _ content: [UInt8]?) -> Bool {
        guard other.item.kind == template.kind, other.item.filename == template.filename else { return false }
        switch template.kind {
        case .folder: return true
        case .symlink: return other.item.target == template.target
        case .file: return other.content == content
        }
    }
}
