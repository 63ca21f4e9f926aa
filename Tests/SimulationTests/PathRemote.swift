import ReplicaModel
import Threads

@testable import PathStore
@testable import ReplicaTestSupport

/// A storage of paths with a store over it: each daemon that starts opens the store anew, on the table that the last one left.
final class PathRemote: Remote {
    /// What the storage is like.
    struct Nature: Sendable, Hashable, CustomStringConvertible {
        var strength: PathStorageProperties.Strength
        var isCoarse: Bool
        var hasIdentities: Bool
        var keepsMarks: Bool
        var listsDeep: Bool
        var listsAttributes: Bool
        var tellsSettled: Bool
        var foldersTellChanges: Bool

        /// Another for each seed; the strengths take turns.
        init(seed: UInt64) {
            strength = [.atomic, .checked, .none][Int(seed % 3)]
            var random = SeededGenerator(seed: seed ^ 0x5061_7468)
            isCoarse = random.chance(50)
            hasIdentities = random.chance(50)
            keepsMarks = random.chance(60)
            listsDeep = random.chance(30)
            listsAttributes = random.chance(70)
            tellsSettled = random.chance(50)
            foldersTellChanges = random.chance(40) && !isCoarse
        }

        var description: String {
            var words = ["\(strength)"]
            if isCoarse { words.append(tellsSettled ? "coarse and settled" : "coarse") }
            if hasIdentities { words.append("identities") }
            if keepsMarks { words.append("marks") }
            if listsDeep { words.append("deep") }
            if foldersTellChanges { words.append("telling folders") }
            if !listsAttributes { words.append("silent") }
            return words.joined(separator: ", ")
        }

        var properties: PathStorageProperties {
            var properties = PathStorageProperties()
            properties.createStrength = strength
            properties.replaceStrength = strength
            properties.removeStrength = strength
            properties.moveStrength = strength
            properties.changeGrain = isCoarse ? 1_000_000_000 : 0
            properties.hasIdentities = hasIdentities
            properties.keepsMarks = keepsMarks
            properties.listsDeep = listsDeep
            properties.foldersTellChanges = foldersTellChanges
            properties.listsAttributes = listsAttributes
            // One thing happens at a time.
            properties.concurrency = 1
            return properties
        }
    }

    let storage: MemoryPathStorage
    private let folder: String
    private let now: @Sendable () -> Int64
    private let wait: @Sendable (Int64) -> Void
    private struct Told: Hashable {
        var path: StoragePath
        var version: String?
        var size: Int64
    }
    private struct State {
        var store: PathStore?
        /// What each content version that was told stood for.
        var versions: [String: [UInt8]] = [:]
        /// What was in files when the storage told of them last.
        var told: [Told: [UInt8]] = [:]
        var random: SeededGenerator
    }
    private let state: Locked<State>

    init(
        seed: UInt64, folder: String, now: @escaping @Sendable () -> Int64, wait: @escaping @Sendable (Int64) -> Void
    ) {
        let nature = Nature(seed: seed)
        storage = MemoryPathStorage(nature.properties)
        storage.now = now
        storage.tellsSettled = nature.tellsSettled
        storage.dateGrain = nature.isCoarse ? 1_000_000_000 : 1
        (self.folder, self.now, self.wait) = (folder, now, wait)
        state = Locked(State(random: SeededGenerator(seed: seed)))
    }

    func connect() throws -> any RemoteStore {
        var options = PathStoreOptions.alwaysListing
        (options.now, options.sleep) = (now, { [wait] in wait($0) })
        options.identifier = { [state] in state.withLock { Int64(bitPattern: $0.random.next() >> 1) } }
        let store = try PathStore(storage, folder: folder, options: options)
        state.withLock { $0.store = store }
        return Witness(store: store, remote: self)
    }

    // MARK: What is there

    private func item(at path: StoragePath, _ entry: PathEntry, _ content: [UInt8]) -> Item {
        var item = Item(
            identifier: row(at: path).map { ItemIdentifier(row: $0.id) } ?? ItemIdentifier("at \(path)"), parent: .root,
            filename: path.name ?? FileName("/"), kind: entry.kind.itemKind,
            version: ItemVersion(content: entry.version ?? "", metadata: ""), size: Int64(content.count))
        if case .symlink(let target) = entry.kind { item.target = target }
        item.metadata.mode = entry.attributes.mode
        return item
    }

    private func row(at path: StoragePath) -> PathRow? {
        guard let table = state.withLock({ $0.store?.table }) else { return nil }
        // A table that cannot be read fails the world elsewhere.
        return try? table.read { database in
            var row = try database.row(PathRow.root)
            for name in path.names { row = try row.flatMap { try database.row(in: $0.id, name) } }
            return row
        }
    }

    private func path(of identifier: ItemIdentifier) -> StoragePath? {
        guard let id = identifier.row, let table = state.withLock({ $0.store?.table }) else { return nil }
        return (try? table.read { try $0.path(of: id) }).flatMap { $0 }  // As above.
    }

    var entries: [String: MemoryStore.Entry] {
        let all = storage.entries.map { path, there in
            (
                path.description,
                MemoryStore.Entry(item: item(at: path, there.entry, there.content), content: there.content)
            )
        }
        return Dictionary(uniqueKeysWithValues: all)
    }

    var identifiers: [ItemIdentifier] {
        entries.sorted { $0.key < $1.key }.map(\.value.item.identifier)
    }

    func present(_ identifier: ItemIdentifier) -> Item? {
        guard let path = path(of: identifier), let entry = storage.present(path) else { return nil }
        var item = item(at: path, entry, storage.content(at: path) ?? [])
        item.version.content = row(at: path)?.token ?? ""
        return item
    }

    func content(of identifier: ItemIdentifier) -> [UInt8]? { path(of: identifier).flatMap { storage.content(at: $0) } }

    /// Wherever it is by now: no two contents are equal, and where it is the store may not know yet.
    func content(of identifier: ItemIdentifier, stillAt version: String) -> [UInt8]? {
        guard let content = state.withLock({ $0.versions[version] }), contents.contains(content) else { return nil }
        return content
    }

    var contents: [[UInt8]] { storage.entries.values.filter { $0.entry.kind == .file }.map(\.content) }

    func holds(path: String) -> Bool { storage.present(StoragePath(path)) != nil }

    var listings: Int { storage.calls.count { $0.method == .list } }

    func setBatchSize(_ size: Int) { storage.pageSize = size }

    /// Anchors of the table live as long as it does.
    func expireAnchors() {}

    // MARK: Another client

    func put(_ content: [UInt8], dated date: Timestamp, at path: String) {
        storage.put(content, at: path, attributes: PathAttributes(modificationDate: date))
    }

    func makeFolder(at path: String) { storage.add(.folder, at: path) }

    func makeSymlink(at path: String, to target: String) { storage.add(.symlink(Array(target.utf8)), at: path) }

    /// A file that takes the place of one of equal time and size is taken for that, where nothing else tells them apart
    /// (docs/decisions/path-store.md).
    func relocate(_ path: String, to target: String) -> Bool {
        let (source, destination) = (StoragePath(path), StoragePath(target))
        let isTaken = storage.entries.contains { path, there in
            guard path.isWithin(source), there.entry.kind == .file, storage.properties.changeGrain > 0 else {
                return false
            }
            let new = StoragePath(destination.names + path.names.dropFirst(source.names.count))
            guard let known = row(at: new), known.kind == .file else { return false }
            return known.version == there.entry.version && known.size == there.entry.size && known.identity == nil
        }
        if !isTaken { storage.move(path, to: target) }
        return !isTaken
    }

    func delete(at path: String) { storage.take(path) }

    func setMode(_ mode: UInt16, of path: String) { storage.change(PathAttributes(mode: mode), of: path) }

    /// Nothing is kept of it.
    func setNote(_ note: [UInt8], of path: String) {}

    /// Remembers what is in the files, as the storage answers now.
    func remember() {
        let files = storage.entries.filter { $0.value.entry.kind == .file }
        state.withLock { state in
            for (path, there) in files {
                state.told[Told(path: path, version: there.entry.version, size: there.entry.size)] = there.content
            }
        }
    }

    /// Notes what a content version stands for that was just told.
    fileprivate func note(_ item: Item, sent: [UInt8]?) {
        guard item.kind == .file else { return }
        let told = path(of: item.identifier).flatMap { path in
            row(at: path).flatMap { row in
                state.withLock { $0.told[Told(path: path, version: row.version, size: row.size)] }
            }
        }
        guard let there = sent ?? told else { return }
        state.withLock { $0.versions[item.version.content] = $0.versions[item.version.content] ?? there }
    }
}

/// Notes what each content version stands for.
private struct Witness: StoreWrapper {
    let inner: PathStore
    let remote: PathRemote
    var store: any RemoteStore { inner }

    init(store: PathStore, remote: PathRemote) {
        (inner, self.remote) = (store, remote)
    }

    func pass<Result: Sendable>(
        _ method: StoreMethod, _ identifier: ItemIdentifier?, hasContents: Bool,
        _ body: () async throws(RemoteStoreError) -> Result
    ) async throws(RemoteStoreError) -> Result {
        let result = try await body()
        switch result {
        case let item as Item: remote.note(item, sent: nil)
        case let page as ItemPage: for item in page.items { remote.note(item, sent: nil) }
        case let batch as ChangeBatch: for item in batch.updated { remote.note(item, sent: nil) }
        default: break
        }
        return result
    }

    func createItem(
        basedOn template: ItemTemplate, fields: ItemFields, contents: ItemContents?, options: CreateOptions
    ) async throws(RemoteStoreError) -> StoreResult {
        let sent = try contents?.allBytes()
        let result = try await inner.createItem(
            basedOn: template, fields: fields, contents: contents, options: options)
        if let item = result.item, !result.shouldFetchContent { remote.note(item, sent: sent) }
        return result
    }

    func modifyItem(
        _ template: ItemTemplate, base: ItemVersion, changedFields: ItemFields, contents: ItemContents?
    ) async throws(RemoteStoreError) -> StoreResult {
        let sent = try contents?.allBytes()
        let result = try await inner.modifyItem(
            template, base: base, changedFields: changedFields, contents: contents)
        if let item = result.item, !result.shouldFetchContent { remote.note(item, sent: sent) }
        return result
    }
}
