internal import SystemPackage

/// The result of recording an answer.
enum Finished {
    /// This node was created from the store's listing of the item before the answer identified it: it is removed first.
    case twin(ItemNumber)
    /// The next state to apply, and the store's identifier of another item that this one replaced.
    case item(Item?, replaced: ItemIdentifier? = nil)
}

extension Tree {
    /// Whether another node than the sent one has the answered item, and is unedited.
    private func isUneditedDuplicate(_ other: Node, of number: ItemNumber) -> Bool {
        other.number != number && other !== root && !other.isDeleted && other.dirty.isEmpty
    }

    /// Records the store's answer to a create or a modify in the node that was sent.
    func adoptAnswer(_ outgoing: OutgoingCall, _ result: StoreResult, hadTwin: Bool = false) throws(ReplicaError)
        -> Finished
    {
        let holder = try result.item.flatMap { (item) throws(ReplicaError) in try find(item.identifier) }
        if !hadTwin, let holder, isUneditedDuplicate(holder, of: outgoing.number) { return .twin(holder.number) }
        guard let node = items[outgoing.number] else { return .item(nil) }
        endFlight(node)
        store.names.clearCollisions(of: node)
        guard isStillSent(node, outgoing) else {
            if let item = result.item { try handOver(item, outgoing) }
            return .item(nil)
        }
        guard let item = result.item else {
            noteExcluded(node)
            return .item(nil)
        }
        guard item.kind == node.kind else {
            setFailure(
                of: node, code: "cannotSynchronize", "the store answered with an item of another kind", retryAt: nil)
            return .item(nil)
        }
        if node.isDeleted, let holder, holder !== node, !holder.isDeleted {
            // It was removed here under its first name only.
            drop(node)
            return .item(nil)
        }
        let replaced = holder.flatMap { yield($0, to: node, isNew: outgoing.isCreate) }
        let (isNew, former) = (node.isNew, node.base)
        if case .modify = outgoing.call, former?.identifier == item.identifier { supersede(node, outgoing.fields) }
        let synced = outgoing.fields.contains(.contents) ? node.syncedSinceSent : node.syncedSize
        bind(node, item, outgoing, isOther: result.shouldFetchContent)
        store.answers.note(item.identifier)
        endCall(of: node, outgoing)
        guard !node.isDeleted else {
            node.sentContent = nil
            note(node)
            return .item(nil, replaced: replaced)
        }
        node.dirty = outgoing.stillDirty(after: result, since: node.dirtySinceSent)
        keepSynced(synced, of: node)
        if outgoing.call == .resolve, node.base?.version.content != "" { dropSentContent(of: node) }
        node.sentContent = nil
        if outgoing.call != .resolve { node.flags.subtract(outgoing.fields.contains(.contents) ? .inDoubt : .doubtful) }
        node.comparePlace()
        let isOther = needsNewPlaceholder(node, than: former, outgoing, result)
        if result.shouldFetchContent || isOther { node.base?.version.content = "" }
        let hasMore = mergeMetadata(of: node, item, outgoing)
        if isNew, node.kind == .folder {
            // Its entries may belong to the twin.
            if outgoing.mayHaveMet || hadTwin { askAgain(for: node) }
            try includeChildren(of: node)
        }
        note(node)
        let isInStep =
            outgoing.isAnswered(by: item, result) && !isOther && !hasMore && node.flags.isDisjoint(with: .inDoubt)
        return .item(isInStep ? nil : item, replaced: replaced)
    }

    /// Keeps the synced size of an edit that the answered call did not send. A writer that syncs each write may sync more at any
    /// moment, without a request: one byte is noted for it.
    private func keepSynced(_ size: Int64?, of node: Node) {
        node.syncedSinceSent = nil
        node.syncedSize = node.dirty.contains(.contents) ? size : nil
        guard node.kind == .file, items.holder(of: node).hasSyncedWriter else { return }
        node.syncedSize = min(node.syncedSize ?? 1, 1)
    }

    /// Compares the metadata of an item that the store had before it was sent: differences are sent; fields that only
    /// the store has are applied here.
    /// - Returns: Whether something has to be applied here.
    private func mergeMetadata(of node: Node, _ item: Item, _ outgoing: OutgoingCall) -> Bool {
        guard case .create(let options) = outgoing.call, options.contains(.mayAlreadyExist) else { return false }
        let own = outgoing.template.metadata
        let differing = own.fields(differingFrom: item.metadata)
        let coming = differing.intersection(own.clearedFields)
        node.dirty.formUnion(differing.subtracting(coming))
        if !coming.isEmpty { node.base?.version.metadata = "" }
        return !coming.isEmpty
    }

    /// Clears everything that waited for the answer, except for the record of the sent content.
    private func endCall(of node: Node, _ outgoing: OutgoingCall) {
        // A change that was in flight when a reimport began does not complete the reimport.
        if !node.flags.contains(.reimport) || outgoing.isCreate {
            node.flags.subtract(.untilCreated)
        }
        (node.sent, node.failure) = (nil, nil)
    }

    /// Whether the answer changed the content that a placeholder stands for: it is recreated then.
    private func needsNewPlaceholder(
        _ node: Node, than former: Base?, _ outgoing: OutgoingCall, _ result: StoreResult
    ) -> Bool {
        guard node.kind == .file, node.materialization != .whole else { return false }
        // Unless it was truncated after it was sent.
        if !node.dirtySinceSent.contains(.contents) { node.dirty.remove(.contents) }
        if outgoing.keepsContent { return result.shouldFetchContent }
        return former?.version.content != result.item?.version.content
    }

    func endFlight(_ node: Node) {
        node.isInFlight = false
        node.isResolving = false
        store.answers.noteCall(about: node.base?.identifier)
        if node.isPending { pending.tell(node) } else { pending.wake() }
    }

    /// Detects that the store's present place or content is the one sent in a call whose answer was lost.
    func recognise(_ item: Item, as node: Node) throws(ReplicaError) {
        if let sent = node.sent, node.base != nil, item.filename == sent.name,
            try folder(of: item, as: node)?.number == sent.parent
        {
            node.base?.parent = sent.parent
            node.base?.name = sent.name
            if !node.isDeleted { node.comparePlace() }
            node.sent = nil
            note(node)
        }
        guard node.base != nil, node.sentContent?.isContent(of: item) == true else { return }
        // If no content was sent, an equal size alone proves nothing.
        guard node.dirty.contains(.contents) || item.metadata.modificationDate != nil else { return }
        node.base?.version.content = item.version.content
        node.base?.size = item.size
        dropSentContent(of: node)
        node.sentContent = nil
        note(node)
    }

    /// The sent content has arrived: it is not sent again if the file is unchanged.
    func dropSentContent(of node: Node) {
        settle(node)
        guard !isWritten(node), node.sentContent?.isContent(of: node.fingerprint) == true else { return }
        node.dirty.remove(.contents)
    }

    /// Whether the node still is the item of the call: a file that is renamed over another becomes that other item.
    func isStillSent(_ node: Node, _ outgoing: OutgoingCall) -> Bool {
        guard !outgoing.isOfKnownItem else { return node.base?.identifier == outgoing.template.identifier }
        return node.isNew && node.sent?.template == outgoing.template.identifier
    }

    /// Applies the answer to the tombstone of the item that the node was before.
    func handOver(_ item: Item, _ outgoing: OutgoingCall) throws(ReplicaError) {
        let known = try find(outgoing.template.identifier)
        let tombstone = known ?? pending.values.first { $0.sent?.template == outgoing.template.identifier }
        guard let tombstone, tombstone.isDeleted else { return }
        let place = tombstone.placeInStore
        var base = Base(item, parent: place?.parent ?? .root)
        if let place { base.name = place.name }
        setBase(base, of: tombstone)
        store.answers.note(item.identifier)
        tombstone.flags.remove(.createSent)
        (tombstone.sent, tombstone.sentContent) = (nil, nil)
        note(tombstone)
    }

    /// Sets `item` as the node's base, at the place that was sent: a different result in the store then shows as a
    /// change of the store.
    /// - Parameter isOther: Whether the store's content differs from the sent one, or from the previous one. If false,
    ///   the content is the same under any version: a version may follow the metadata.
    func bind(_ node: Node, _ item: Item, _ outgoing: OutgoingCall, isOther: Bool) {
        var base = Base(item, parent: outgoing.parent)
        if case .modify(let sent) = outgoing.call, let old = node.base, outgoing.keepsContent, isOther {
            // The answer did not contain another client's newer content: it still has to be applied.
            (base.version.content, base.size) = (sent.content, old.size)
        }
        if case .modify(let sent) = outgoing.call, !shows(item.metadata, .metadata.subtracting(outgoing.fields), node) {
            base.version.metadata = sent.metadata
        }
        let isPlaced: Bool
        switch outgoing.call {
        case .create, .resolve: isPlaced = true
        case .modify, .delete: isPlaced = !outgoing.fields.isDisjoint(with: .place)
        }
        if isPlaced {
            base.name = outgoing.template.filename
        } else if let old = node.base {
            (base.parent, base.name) = (old.parent, old.name)
        }
        if outgoing.call == .resolve {
            // Another client's content differs from the sent one.
            let isOurs = node.kind != .file || node.sentContent?.isContent(of: item) != false
            base.version = ItemVersion(content: isOurs ? item.version.content : "", metadata: "")
        }
        setBase(base, of: node)
    }

    /// Whether the file has the store's metadata in `fields`.
    private func shows(_ metadata: ItemMetadata, _ fields: ItemFields, _ node: Node) -> Bool {
        guard node.kind != .symlink, !node.isDeleted else { return true }
        do throws(ReplicaError) {
            let place = try place(of: node)
            let own = try errnos { () throws(Errno) in
                try place.hold { (file) throws(Errno) in
                    try file.metadata(fields, node.kind, try file.status(), store.privileges)
                }
            }
            return own.fields(differingFrom: metadata).isEmpty
        } catch {
            return false  // It is checked again when the store's state is applied.
        }
    }

    /// Transfers the identifier from another node, because the store reports that both are one item (statement 76). The
    /// other node is then an old copy of a new item: it is removed, unless it was edited, which makes it an item of its
    /// own. A folder always becomes one, until its entries have moved.
    /// - Returns: The other's new identifier, if it is to be removed.
    private func yield(_ other: Node, to node: Node, isNew: Bool) -> ItemIdentifier? {
        guard other !== node, other !== root else { return nil }
        if other.isDeleted {
            drop(other)
            return nil
        }
        guard isNew && other.kind != .folder || other.flags.contains(.reimport), other.base != nil else {
            convertToNewItem(other)
            // Its entries now belong to the new folder.
            if node.kind == .folder { askAgain(for: node) }
            return nil
        }
        let stale = makeStale(other)
        return other.flags.contains(.reimport) ? nil : stale
    }

    /// Sends items that stayed local because of their folder, now that the store has the folder.
    func includeChildren(of folder: Node) throws(ReplicaError) {
        for child in try children(of: folder).values where child.isLocalOnly {
            edit(child, ItemFields.ofNew(child.kind))
        }
    }

    /// Records that the store excludes the item: it stays local, and its state shows that.
    func noteExcluded(_ node: Node) {
        if node.isDeleted { return drop(node) }
        setBase(nil, of: node)
        node.flags.subtract(.untilCreated)
        node.flags.insert(.refused)
        note(node)
    }
}
