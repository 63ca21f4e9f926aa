internal import SystemPackage

extension Replica {
    /// Records the store's answer to a create or a modify.
    /// - Returns: A state of an item to apply next: the store's own where it differs from what was sent.
    func finish(_ outgoing: Outgoing, _ result: StoreResult) throws(Obstacle) -> Item? {
        let hadTwin = try result.item.map { (item) throws(Obstacle) in
            try retireTwin(of: outgoing.number, item.identifier)
        }
        var replaced: ItemIdentifier?
        let next = try locked { (tree) throws(Obstacle) -> Item? in
            guard let node = tree.items[outgoing.number] else { return nil }
            tree.endFlight(node)
            guard try tree.isStillSent(node, outgoing) else {
                if let item = result.item { try tree.handOver(item, outgoing) }
                return nil
            }
            guard let item = result.item else {
                tree.refuse(node)
                return nil
            }
            guard item.kind == node.kind else {
                tree.fail(
                    node, code: "cannotSynchronize", "the store answered with an item of another kind", retryAt: nil)
                return nil
            }
            replaced = try tree.yield(item.identifier, to: node, isNew: outgoing.isCreate)
            let isNew = node.isNew
            let former = node.base
            tree.bind(node, item, outgoing)
            tree.answers.note(item.identifier)
            // A change that was under way when a reimport began does not stand for it.
            if !node.flags.contains(.reimport) || outgoing.isCreate {
                node.flags.subtract([.createSent, .mayAlreadyExist, .deletionConflicted, .importing, .reimport])
            }
            node.sent = nil
            node.failure = nil
            let sentContent = node.sentContent
            node.sentContent = nil
            guard !node.isDeleted else {
                tree.note(node)
                return nil
            }
            node.dirty = outgoing.stillDirty(after: result, since: node.dirtySinceSent)
            if outgoing.call == .resolve {
                node.sentContent = sentContent
                if node.base?.version.content != "" { tree.dropSentContent(of: node) }
                node.sentContent = nil
            }
            node.comparePlace()
            var isOther = false
            if node.kind == .file, node.materialization != .whole {
                node.dirty.remove(.contents)
                isOther = former?.version.content != item.version.content
                // The placeholder stands for another content: it is made anew.
                if isOther { node.base?.version.content = "" }
            }
            if result.shouldFetchContent { node.base?.version.content = "" }
            if isNew, node.kind == .folder {
                // Its entries may be those of the other.
                if outgoing.mayHaveMet || hadTwin == true { tree.askAgain(for: node) }
                try tree.includeChildren(of: node)
            }
            tree.note(node)
            return outgoing.isAnswered(by: item, result) && !isOther ? nil : item
        }
        if let replaced { try noteDeletion(of: replaced) }
        return next
    }

    /// Has what the store replaced by another removed, like after a deletion in the store.
    private func noteDeletion(of identifier: ItemIdentifier) throws(Obstacle) {
        do throws(RemoteStoreError) {
            try noteIncoming([Incoming(identifier: identifier, item: nil, asked: answers)], anchor: nil)
        } catch {
            throw .errno(.ioError)
        }
        wake()
    }

    /// Removes what was made here from the store's word of an item before the answer said that the item is another
    /// node's.
    /// - Returns: Whether there was one.
    private func retireTwin(of number: ItemNumber, _ identifier: ItemIdentifier) throws(Obstacle) -> Bool {
        let twin = try locked { (tree) throws(Obstacle) -> ItemNumber? in
            guard let twin = try tree.find(identifier), twin.number != number, twin !== tree.root, !twin.isDeleted,
                twin.dirty.isEmpty
            else { return nil }
            return twin.number
        }
        if let twin { _ = try removeTree(twin) }
        return twin != nil
    }

    /// Records the answer to the question whether an earlier call arrived.
    func finishResolving(_ outgoing: Outgoing, _ item: Item?) throws(Obstacle) -> Item? {
        if let item, outgoing.isOfKnownItem {
            try locked { (tree) throws(Obstacle) in
                guard let node = tree.items[outgoing.number] else { return }
                tree.endFlight(node)
                guard node.base?.identifier == item.identifier else { return }
                try tree.recognise(item, as: node)
                (node.sent, node.sentContent) = (nil, nil)
                tree.note(node)
            }
            return nil
        }
        if let item {
            var asCreated = outgoing
            asCreated.fields = []
            return try finish(asCreated, StoreResult(item: item, stillPending: []))
        }
        look { tree in
            guard let node = tree.items[outgoing.number] else { return }
            tree.endFlight(node)
            node.flags.remove(.createSent)
            node.sentContent = nil
            if node.isDeleted { tree.drop(node) } else { tree.note(node) }
        }
        return nil
    }

    /// Records that the store has deleted an item.
    func finishDeletion(_ outgoing: Outgoing) {
        look { tree in
            guard let node = tree.items[outgoing.number] else { return }
            tree.endFlight(node)
            guard node.isDeleted else {
                // Brought back meanwhile: a new item for the store.
                return tree.makeAnew(node)
            }
            tree.drop(node)
        }
    }
}

extension Outgoing {
    /// Whether the store may have had the item, and more in it than we know.
    fileprivate var mayHaveMet: Bool {
        switch call {
        case .create(let options): options.contains(.mayAlreadyExist)
        case .resolve: true
        case .modify, .delete: false
        }
    }

    /// Whether it makes the item in the store, or asks for one that was made.
    var isCreate: Bool {
        switch call {
        case .create, .resolve: true
        case .modify, .delete: false
        }
    }

    /// Whether the store made exactly what was sent.
    fileprivate func isAnswered(by item: Item, _ result: StoreResult) -> Bool {
        item.filename == template.filename && item.parent == template.parent && !result.shouldFetchContent
    }

    /// What is left to send after an answer. What the store cannot keep is given up: it stays here.
    fileprivate func stillDirty(after result: StoreResult, since edited: ItemFields) -> ItemFields {
        if call == .resolve { return ItemFields.ofNew(template.kind).subtracting(.place) }
        let pending = result.stillPending == fields ? [] : result.stillPending
        return edited.union(pending)
    }
}

extension Tree {
    /// Sees that the store's present place or content is what was sent in a call whose answer was lost.
    func recognise(_ item: Item, as node: Node) throws(Obstacle) {
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
        node.base?.version.content = item.version.content
        node.base?.size = item.size
        dropSentContent(of: node)
        node.sentContent = nil
        note(node)
    }

    /// The content that was sent has arrived: it is not sent again when the file still has it.
    fileprivate func dropSentContent(of node: Node) {
        settle(node)
        guard !isWritten(node), node.sentContent?.isContent(of: node.stamp) == true else { return }
        node.dirty.remove(.contents)
    }

    /// Whether the node still is the item that the call was about: a file renamed over another becomes that other.
    fileprivate func isStillSent(_ node: Node, _ outgoing: Outgoing) throws(Obstacle) -> Bool {
        guard !outgoing.isOfKnownItem else { return node.base?.identifier == outgoing.template.identifier }
        return node.isNew && node.sent?.template == outgoing.template.identifier
    }

    /// Has the tombstone of what a node was take the answer to its call.
    fileprivate func handOver(_ item: Item, _ outgoing: Outgoing) throws(Obstacle) {
        let known = try find(outgoing.template.identifier)
        let grave = known ?? pending.values.first { $0.sent?.template == outgoing.template.identifier }
        guard let grave, grave.isDeleted else { return }
        let place = grave.placeInStore
        var base = Base(item, parent: place?.parent ?? .root)
        if let place { base.name = place.name }
        setBase(base, of: grave)
        answers.note(item.identifier)
        grave.flags.remove(.createSent)
        (grave.sent, grave.sentContent) = (nil, nil)
        note(grave)
    }

    func endFlight(_ node: Node) {
        node.isInFlight = false
        node.isResolving = false
        answers.noteCall(about: node.base?.identifier)
        if node.isPending { news.append(node.number) }
        pendingChanged = true
    }

    /// Makes `item` what the node was last in step with, at the place that was sent: what the store made otherwise
    /// then shows as a change of the store.
    fileprivate func bind(_ node: Node, _ item: Item, _ outgoing: Outgoing) {
        var base = Base(item, parent: outgoing.parent)
        if case .modify(let sent) = outgoing.call, let old = node.base, !outgoing.fields.contains(.contents) {
            // Another client's newer content did not come with the answer: it still is to be taken in.
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
            // What another client wrote meanwhile is not what was sent.
            let isOurs = node.kind != .file || node.sentContent?.isContent(of: item) != false
            base.version = ItemVersion(content: isOurs ? item.version.content : "", metadata: "")
        }
        setBase(base, of: node)
    }

    /// Whether the file has the store's metadata, as far as `fields` says.
    private func shows(_ metadata: ItemMetadata, _ fields: ItemFields, _ node: Node) -> Bool {
        guard node.kind != .symlink, !node.isDeleted else { return true }
        do throws(Obstacle) {
            let place = try place(of: node)
            let own = try errnos { () throws(Errno) in try place.metadata(fields, node.kind) }
            var theirs = own
            if let mode = metadata.mode, fields.contains(.mode) { theirs.mode = mode }
            if let tags = metadata.tags, fields.contains(.tags) { theirs.tags = tags }
            if let date = metadata.lastUsedDate, fields.contains(.lastUsedDate) { theirs.lastUsedDate = date }
            if let rank = metadata.favoriteRank, fields.contains(.favoriteRank) { theirs.favoriteRank = rank }
            if let values = metadata.extendedAttributes, fields.contains(.extendedAttributes) {
                theirs.extendedAttributes = values
            }
            return own == theirs
        } catch {
            return false  // It is looked at again when the store's state is applied.
        }
    }

    /// Takes an identifier from another node that has it: the store says that both are one (statement 76). The other
    /// is an old copy of a new item then: it goes, unless it was edited, which makes it an item of its own. A folder
    /// becomes one anyway, until its entries have moved.
    /// - Returns: What the other is called from now on, where it is to go.
    fileprivate func yield(
        _ identifier: ItemIdentifier, to node: Node, isNew: Bool
    ) throws(Obstacle) -> ItemIdentifier? {
        guard let other = try find(identifier), other !== node, other !== root else { return nil }
        if other.isDeleted {
            drop(other)
            return nil
        }
        guard isNew && other.kind != .folder || other.flags.contains(.reimport), var base = other.base else {
            makeAnew(other)
            // Its entries are the new one's now.
            if node.kind == .folder { askAgain(for: node) }
            return nil
        }
        base.identifier = ItemIdentifier("replica:stale-\(other.number.rawValue)")
        setBase(base, of: other)
        return other.flags.contains(.reimport) ? nil : base.identifier
    }

    /// What stayed local because its folder did is sent now that the store has the folder.
    fileprivate func includeChildren(of folder: Node) throws(Obstacle) {
        for child in try children(of: folder).values where child.isLocalOnly {
            edit(child, ItemFields.ofNew(child.kind))
        }
    }

    /// The store will not have the item: it stays here, and its state says so.
    fileprivate func refuse(_ node: Node) {
        if node.isDeleted { return drop(node) }
        setBase(nil, of: node)
        node.flags.subtract([.createSent, .mayAlreadyExist, .deletionConflicted, .importing, .reimport])
        node.flags.insert(.refused)
        note(node)
    }
}
