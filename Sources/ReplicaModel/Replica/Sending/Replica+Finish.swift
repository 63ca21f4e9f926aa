internal import SystemPackage

extension Replica {
    /// Records the store's answer to a create or a modify.
    /// - Returns: A state of an item to apply next: the store's own where it differs from what was sent.
    func finish(_ outgoing: Outgoing, _ result: StoreResult) throws(Obstacle) -> Item? {
        var replaced: ItemIdentifier?
        let next = try locked { (tree) throws(Obstacle) -> Item? in
            guard let node = tree.items[outgoing.number] else { return nil }
            tree.endFlight(node)
            guard let item = result.item else {
                tree.refuse(node)
                return nil
            }
            guard item.kind == node.kind else {
                tree.fail(
                    node, code: "cannotSynchronize", "the store answered with an item of another kind", retryAt: nil)
                return nil
            }
            replaced = try tree.yield(item.identifier, to: node)
            let isNew = node.isNew
            let former = node.base
            tree.bind(node, item, outgoing)
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
            if isNew, case .create(let options) = outgoing.call, options.contains(.mayAlreadyExist),
                node.kind == .folder
            {
                tree.askAgain(for: node)
            }
            if isNew, node.kind == .folder { try tree.includeChildren(of: node) }
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

    /// Records the answer to the question whether an earlier call arrived.
    func finishResolving(_ outgoing: Outgoing, _ item: Item?) throws(Obstacle) -> Item? {
        if let item, outgoing.isOfKnownItem {
            look { tree in
                guard let node = tree.items[outgoing.number] else { return }
                tree.endFlight(node)
                if node.sentContent?.isContent(of: item) == true {
                    node.base?.version.content = item.version.content
                    node.base?.size = item.size
                    tree.dropSentContent(of: node)
                }
                node.sentContent = nil
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
    /// The content that was sent has arrived: it is not sent again when the file still has it.
    fileprivate func dropSentContent(of node: Node) {
        settle(node)
        guard node.writers == 0, node.sentContent?.isContent(of: node.stamp) == true else { return }
        node.dirty.remove(.contents)
    }

    func endFlight(_ node: Node) {
        node.isInFlight = false
        answers += 1
        node.answered = answers
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
            if let values = metadata.extendedAttributes, fields.contains(.extendedAttributes) {
                theirs.extendedAttributes = values
            }
            return own == theirs
        } catch {
            return false  // It is looked at again when the store's state is applied.
        }
    }

    /// Takes an identifier from another node that has it: the store says that both are one (statement 76). The other
    /// is an old copy then: it goes, unless it was edited, which makes it an item of its own. A folder becomes one
    /// anyway, until its entries have moved.
    /// - Returns: What the other is called from now on, where it is to go.
    fileprivate func yield(_ identifier: ItemIdentifier, to node: Node) throws(Obstacle) -> ItemIdentifier? {
        guard let other = try find(identifier), other !== node, other !== root else { return nil }
        if other.isDeleted {
            drop(other)
            return nil
        }
        guard other.kind != .folder || other.flags.contains(.reimport), var base = other.base else {
            makeAnew(other)
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
