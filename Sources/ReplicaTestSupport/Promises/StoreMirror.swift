import ReplicaModel

/// A copy of a store's root and of the listed folders below it, kept up to date by the store's feed.
struct StoreMirror {
    let subject: StoreSubject
    private(set) var items: [ItemIdentifier: Item] = [:]
    /// The identifiers that the feed reported as deleted.
    private(set) var deleted: Set<ItemIdentifier> = []
    private(set) var anchor: SyncAnchor

    /// Lists the root and `folders`, after requesting the anchor, like the engine.
    init(_ subject: StoreSubject, listing folders: [ItemIdentifier] = []) async throws {
        self.subject = subject
        anchor = try await subject.store.currentAnchor()
        for folder in [.root] + folders {
            for item in try await subject.list(folder) { items[item.identifier] = item }
        }
    }

    /// Applies the changes that exist now.
    mutating func update() async throws {
        while true {
            let batch = try await subject.store.enumerateChanges(from: anchor)
            try subject.expect(batch.anchor.bytes.count <= 500, "an anchor is longer than 500 bytes")
            let isStuck = batch.moreComing && batch.anchor == anchor
            try subject.expect(!isStuck, "more is coming, but the anchor stands still")
            for item in batch.updated { items[item.identifier] = item }
            for identifier in batch.deleted { items[identifier] = nil }
            deleted.formUnion(batch.deleted)
            anchor = batch.anchor
            if !batch.moreComing { return }
        }
    }

    /// Applies changes until `isReached`.
    mutating func update(until goal: String, _ isReached: (StoreMirror) -> Bool) async throws {
        try await subject.wait(for: "the feed tells that \(goal)") {
            try await update()
            return isReached(self)
        }
    }

    func item(_ name: String, in parent: ItemIdentifier = .root) -> Item? {
        items.values.first { $0.filename == FileName(name) && $0.parent == parent }
    }
}
