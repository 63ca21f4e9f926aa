import PathStore
import ReplicaModel

/// A directory store as a storage of paths, which is enough for the probe. For small folders only: each call walks from
/// the root.
struct DirectoryPathStorage: PathStorage {
    let store: any RemoteStore

    var properties: PathStorageProperties {
        let own = store.properties
        var properties = PathStorageProperties()
        // A new file gets its name by a call that replaces nothing; everything else is checked right before.
        (properties.replaceStrength, properties.removeStrength) = (.checked, .checked)
        properties.keepsModes = own.fields.contains(.mode)
        properties.keepsModificationDates = own.fields.contains(.modificationDate)
        (properties.keepsSymlinks, properties.fetchesRanges) = (own.keepsSymlinks, own.fetchesRanges)
        (properties.isCaseSensitive, properties.longestName) = (own.isCaseSensitive, own.longestName)
        properties.hasIdentities = own.keepsIdentifiers
        return properties
    }

    private func said<Value>(
        _ body: () async throws(RemoteStoreError) -> Value
    ) async throws(PathStorageError) -> Value {
        do throws(RemoteStoreError) { return try await body() } catch {
            switch error {
            case .filenameCollision: throw .taken(nil)
            case .versionConflict, .deletionRejected: throw .changed(nil)
            case .noSuchItem: throw .notFound
            case .directoryNotEmpty: throw .notEmpty
            case .unsupported(let text): throw .unsupported(text)
            case .cannotSynchronize(let text): throw .refused(text)
            case .cancelled: throw .cancelled
            default: throw .unreachable(error.message)
            }
        }
    }

    private func children(_ folder: ItemIdentifier) async throws(PathStorageError) -> [Item] {
        var (found, page) = ([Item](), EnumerationPage?.none)
        repeat {
            let from = page
            let answer = try await said { () async throws(RemoteStoreError) in
                try await store.enumerateItems(in: folder, from: from)
            }
            found += answer.items
            page = answer.next
        } while page != nil
        return found
    }

    private func find(_ path: StoragePath) async throws(PathStorageError) -> Item? {
        var item = try await said { () async throws(RemoteStoreError) in try await store.item(.root) }
        for name in path.names {
            guard let next = try await children(item.identifier).first(where: { $0.filename == name })
            else {
                return nil
            }
            item = next
        }
        return item
    }

    private func existing(_ path: StoragePath) async throws(PathStorageError) -> Item {
        guard let item = try await find(path) else { throw .notFound }
        return item
    }

    private func entry(_ item: Item, _ path: StoragePath) -> PathEntry {
        let kind: PathKind =
            switch item.kind {
            case .folder: .folder
            case .symlink: .symlink(item.target ?? [])
            default: .file
            }
        return PathEntry(
            path: path, kind: kind, version: item.kind == .file ? item.version.content : nil,
            size: item.size,
            attributes: PathAttributes(
                mode: item.metadata.mode, modificationDate: item.metadata.modificationDate),
            identity: item.identifier.rawValue)
    }

    func entry(at path: StoragePath) async throws(PathStorageError) -> PathEntry? {
        try await find(path).map { entry($0, path) }
    }

    func list(
        _ folder: StoragePath, isDeep: Bool, from page: EnumerationPage?
    ) async throws(PathStorageError) -> PathPage {
        let item = try await existing(folder)
        return PathPage(
            entries: try await children(item.identifier).map { entry($0, folder.appending($0.filename)) })
    }

    func read(
        _ path: StoragePath, version: String?, range: Range<Int64>?, into sink: any ContentSink
    ) async throws(PathStorageError) -> PathEntry {
        let item = try await existing(path)
        _ = try await said { () async throws(RemoteStoreError) in
            try await store.fetchContents(of: item.identifier, version: nil, range: range, into: sink)
        }
        return entry(item, path)
    }

    func write(
        _ path: StoragePath, contents: ItemContents, attributes: PathAttributes, guard: WriteGuard
    ) async throws(PathStorageError) -> PathEntry {
        guard let name = path.name else { throw .refused("the root can't be changed") }
        let parent = try await existing(path.parent ?? .root)
        var fields = fields(attributes).union(.contents)
        var (template, base) = (self.template(name, in: parent, .file, attributes), ItemVersion?.none)
        switch `guard` {
        case .absent: fields.formUnion(.place)
        case .version(let version):
            let item = try await existing(path)
            template = ItemTemplate(
                identifier: item.identifier, parent: parent.identifier, filename: name, kind: .file)
            template.metadata = self.template(name, in: parent, .file, attributes).metadata
            base = ItemVersion(content: version, metadata: item.version.metadata)
        }
        let (sent, kept, former) = (template, fields, base)
        return try await said { () async throws(RemoteStoreError) in
            let result =
                if let former {
                    try await store.modifyItem(sent, base: former, changedFields: kept, contents: contents)
                } else {
                    try await store.createItem(basedOn: sent, fields: kept, contents: contents, options: [])
                }
            guard let item = result.item else { throw .serverUnreachable }
            return entry(item, path)
        }
    }

    func make(
        _ path: StoragePath, kind: PathKind, attributes: PathAttributes
    ) async throws(PathStorageError) -> PathEntry {
        guard let name = path.name else { throw .taken(nil) }
        let parent = try await existing(path.parent ?? .root)
        var made = template(name, in: parent, .folder, attributes)
        if case .symlink(let target) = kind {
            made = ItemTemplate(
                identifier: made.identifier, parent: made.parent, filename: name, kind: .symlink,
                target: target)
        }
        let (sent, fields) = (made, fields(attributes).union(.place))
        return try await said { () async throws(RemoteStoreError) in
            let result = try await store.createItem(
                basedOn: sent, fields: fields, contents: nil, options: [])
            guard let item = result.item else { throw .serverUnreachable }
            return entry(item, path)
        }
    }

    func set(_ attributes: PathAttributes, of path: StoragePath) async throws(PathStorageError)
        -> PathEntry
    {
        entry(try await existing(path), path)
    }

    func move(
        _ path: StoragePath, to target: StoragePath, version: String?
    ) async throws(PathStorageError) -> PathEntry {
        guard let name = target.name else { throw .taken(nil) }
        let (item, parent) = (try await existing(path), try await existing(target.parent ?? .root))
        let template = ItemTemplate(
            identifier: item.identifier, parent: parent.identifier, filename: name, kind: item.kind)
        return try await said { () async throws(RemoteStoreError) in
            let result = try await store.modifyItem(
                template, base: item.version, changedFields: .place, contents: nil)
            guard let moved = result.item else { throw .serverUnreachable }
            return entry(moved, target)
        }
    }

    func remove(_ path: StoragePath, version: String?) async throws(PathStorageError) {
        guard let item = try await find(path) else { return }
        try await said { () async throws(RemoteStoreError) in
            try await store.deleteItem(item.identifier, base: item.version)
        }
    }

    func signals() -> AsyncStream<StoragePath?> { AsyncStream { $0.finish() } }

    func makeDurable() async throws(PathStorageError) {
        try await said { () async throws(RemoteStoreError) in try await store.makeDurable() }
    }

    private func template(
        _ name: FileName, in parent: Item, _ kind: ItemKind, _ attributes: PathAttributes
    ) -> ItemTemplate {
        var template = ItemTemplate(
            identifier: ItemIdentifier("probe-\(UInt64.random(in: 0 ... .max))"),
            parent: parent.identifier,
            filename: name, kind: kind)
        (template.metadata.mode, template.metadata.modificationDate) = (
            attributes.mode, attributes.modificationDate
        )
        return template
    }

    private func fields(_ attributes: PathAttributes) -> ItemFields {
        var fields: ItemFields = []
        if attributes.mode != nil { fields.insert(.mode) }
        if attributes.modificationDate != nil { fields.insert(.modificationDate) }
        return fields.intersection(store.properties.fields)
    }
}
