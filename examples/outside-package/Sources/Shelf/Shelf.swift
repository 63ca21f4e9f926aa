import ReplicaModel

/// A stand-in for a service: items in memory, each with the number of its last change.
public actor Shelf {
    struct Record: Sendable {
        var item: Item
        var content: [UInt8] = []
        /// The template that the item was created from; ``ShelfStore/itemCreated(from:)`` looks it up.
        var template: ItemIdentifier
        var change = 0
        /// Records of deleted items are kept, so that the feed can report the deletion.
        var isDeleted = false
    }

    private var records: [ItemIdentifier: Record] = [:]
    private(set) var changes = 0
    private var listeners: [AsyncStream<Void>.Continuation] = []

    /// An empty shelf.
    public init() {
        let root = Item(
            identifier: .root, parent: .root, filename: FileName("/"), kind: .folder,
            version: ItemVersion(content: "", metadata: "0"))
        records[.root] = Record(item: root, template: .root)
    }

    func record(_ identifier: ItemIdentifier) throws(RemoteStoreError) -> Record {
        guard let record = records[identifier], !record.isDeleted else { throw .noSuchItem(identifier) }
        return record
    }

    func record(madeFrom template: ItemIdentifier) -> Record? {
        records.values.first { $0.template == template && !$0.isDeleted }
    }

    func children(of folder: ItemIdentifier) -> [Record] {
        records.values.filter { $0.item.parent == folder && $0.item.identifier != .root && !$0.isDeleted }
    }

    /// Everything that changed after the change with this number, including deletions.
    func records(after change: Int) -> [Record] { records.values.filter { $0.change > change } }

    func insert(_ record: Record) throws(RemoteStoreError) -> Record {
        var record = record
        record.item.identifier = ItemIdentifier("book \(changes + 1)")
        return try put(record, isRewritten: true)
    }

    /// Applies `body` to a record, or changes nothing if it throws.
    func change(
        _ identifier: ItemIdentifier, _ body: @Sendable (inout Record) throws(RemoteStoreError) -> Void
    ) throws(RemoteStoreError) -> (old: Record, new: Record) {
        let old = try record(identifier)
        var new = old
        try body(&new)
        return (old, try put(new, isRewritten: new.content != old.content))
    }

    func remove(_ identifier: ItemIdentifier, base: ItemVersion) throws(RemoteStoreError) {
        guard let record = records[identifier], !record.isDeleted else { return }
        let isMeant = record.item.kind == .folder || record.item.version.content == base.content
        guard identifier != .root, isMeant else { throw .deletionRejected(record.item) }
        guard children(of: identifier).isEmpty else { throw .directoryNotEmpty(identifier) }
        records[identifier]?.isDeleted = true
        records[identifier]?.content = []
        records[identifier]?.change = countChange()
    }

    func listen() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        listeners.append(continuation)
        return stream
    }

    private func put(_ record: Record, isRewritten: Bool) throws(RemoteStoreError) -> Record {
        try check(record.item)
        var record = record
        record.change = countChange()
        record.item.size = Int64(record.content.count)
        record.item.version.metadata = "\(record.change)"
        if isRewritten, record.item.kind == .file { record.item.version.content = "\(record.change)" }
        records[record.item.identifier] = record
        return record
    }

    private func check(_ item: Item) throws(RemoteStoreError) {
        guard item.filename.isValid else { throw .cannotSynchronize("no folder can have this name") }
        var folder = item.parent
        while folder != .root {
            guard folder != item.identifier else { throw .cannotSynchronize("a folder cannot be in itself") }
            folder = try record(folder).item.parent
        }
        let other = children(of: item.parent).first { $0.item.filename == item.filename }?.item
        if let other, other.identifier != item.identifier { throw .filenameCollision(other) }
    }

    private func countChange() -> Int {
        changes += 1
        for listener in listeners { listener.yield() }
        return changes
    }
}
