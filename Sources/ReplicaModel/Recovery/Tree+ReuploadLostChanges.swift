/// Changes that had not reached the store's disk when the power was cut, whether they were uploaded or came from the
/// store, are gone there: the store has the previous state again.
extension Tree {
    /// Notes the store's state of an item before these fields change there.
    func supersede(_ node: Node, _ fields: ItemFields) {
        guard let base = node.base, node.kind != .file || base.version.content != "" else { return }
        var row = ItemRow(node)
        row.dirty = fields
        unrecorded.noteSuperseded(row)
    }

    /// Recognizes a former state of the store: everything after it was lost there and has to be uploaded again.
    func recogniseLoss(_ node: Node, _ item: Item, _ parent: Node?) throws(ReplicaError) {
        guard node.flags.contains(.unconfirmed), var base = node.base else { return }
        let states = try reading { [first = unrecorded.rounds.first] in
            try SupersededRows.of(base.identifier, before: first, in: $0)
        }
        let (known, place) = (base, ItemPlace(folder: base.parent, name: base.name))
        let found = parent.map { ItemPlace(folder: $0.number, name: item.filename) }
        // Content that may itself be lost here counts as uploaded if the size is right.
        let isContentHere = !node.flags.contains(.doubtful) || node.fingerprint.size == base.size
        var (sent, lost): (ItemFields, ItemFields) = ([], [])
        var synced: Int64?
        for state in states {
            guard let former = state.base else { continue }
            sent.formUnion(state.dirty)
            synced = synced ?? state.syncedSize
            if former.version.content == item.version.content,
                !["", item.version.content].contains(known.version.content)
            {
                (base.version.content, base.size) = (item.version.content, item.size)
                // Content that a program synced before its upload is here, regardless of later events.
                if let synced, node.fingerprint.size >= min(synced, 1) { node.flags.remove(.doubtful) }
                if isContentHere || !node.flags.contains(.doubtful) {
                    lost.formUnion(sent.intersection([.contents, .modificationDate]))
                }
            }
            if former.version.metadata == item.version.metadata, former.version.metadata != known.version.metadata {
                base.version.metadata = item.version.metadata
                lost.formUnion(sent.intersection(.metadata))
            }
            if let found, found != place, found == ItemPlace(folder: former.parent, name: former.name) {
                (base.parent, base.name) = (former.parent, former.name)
            }
        }
        guard base != known else { return }
        setBase(base, of: node)
        guard !node.isDeleted else { return }
        node.comparePlace()
        if !lost.isEmpty { edit(node, lost) }
        pending.wake()
    }

    /// Whether the deletion of an item has to be uploaded again because the store lost it, perhaps together with an
    /// earlier change.
    func deletesAgain(_ node: Node, _ item: Item) throws(ReplicaError) -> Bool {
        let version = node.base?.version.content
        try recogniseLoss(node, item, try find(item.parent))
        guard node.flags.contains(.unconfirmed) else { return false }
        node.flags.remove(.unconfirmed)
        // An empty file that was deleted here has no content to lose.
        if item.kind == .file, item.size == 0 { node.base?.version.content = item.version.content }
        clearFailure(node)
        note(node)
        return node.base?.version.content == item.version.content && node.base?.version.content != version
    }

    /// Forgets the deletion of a file that is in the tree again: the power cut undid the deletion, so it is not
    /// uploaded again.
    func forgetRepeatedDeletion(of line: BackingFolderListing.Line) throws(ReplicaError) {
        let fingerprint = FileFingerprint(line.status)
        let rows = try reading { try ItemRow.deleted(withInode: fingerprint.inode, in: $0) }
        for row in rows where row.flags.contains(.unconfirmed) && row.fingerprint.isSameFile(as: fingerprint) {
            try find(ItemNumber(row.number)).map(drop)
        }
    }
}
