internal import SystemPackage

extension Replica {
    /// Records the store's answer to a create or a modify.
    /// - Returns: The next state to apply: the store's own state, if it differs from the sent one.
    func finish(_ outgoing: OutgoingCall, _ result: StoreResult) throws(ReplicaError) -> Incoming? {
        let first = try taken(outgoing, result)
        guard case .twin(let twin) = first.outcome else { return try finished(first) }
        _ = try removeTree(twin, TreeRemoval(top: twin, isGone: true))
        return try finished(try taken(outgoing, result, hadTwin: true))
    }

    /// - Returns: Also the number of answered calls at that time: the next call about the item may be answered at once.
    private func taken(
        _ outgoing: OutgoingCall, _ result: StoreResult, hadTwin: Bool = false
    ) throws(ReplicaError) -> (outcome: Finished, answers: UInt64) {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let outcome = try tree.adoptAnswer(outgoing, result, hadTwin: hadTwin)
            return (outcome, tree.store.answers.count)
        }
    }

    private func finished(_ taken: (outcome: Finished, answers: UInt64)) throws(ReplicaError) -> Incoming? {
        guard case .item(let next, let replaced) = taken.outcome else { return nil }
        if let replaced { try noteDeletion(of: replaced) }
        return next.map { Incoming(identifier: $0.identifier, item: $0, asked: taken.answers) }
    }

    /// Records the deletion of an item that the store replaced by another, like any deletion in the store.
    private func noteDeletion(of identifier: ItemIdentifier) throws(ReplicaError) {
        do throws(LocalStateFailure) {
            try noteIncoming([Incoming(identifier: identifier, item: nil, asked: answers)], anchor: nil)
        } catch {
            throw .errno(.ioError)
        }
        wake()
    }

    /// Records the answer to the query whether an earlier call arrived.
    func finishResolving(_ outgoing: OutgoingCall, _ item: Item?) throws(ReplicaError) -> Incoming? {
        if let item, outgoing.isOfKnownItem {
            return try withTreeWaking { (tree) throws(ReplicaError) -> Incoming? in
                guard let node = tree.items[outgoing.number] else { return nil }
                tree.endFlight(node)
                guard node.base?.identifier == item.identifier else { return nil }
                try tree.recognise(item, as: node)
                (node.sent, node.sentContent) = (nil, nil)
                tree.note(node)
                guard node.isDoubtful else { return nil }
                return Incoming(identifier: item.identifier, item: item, asked: tree.store.answers.count)
            }
        }
        if let item {
            var asCreated = outgoing
            asCreated.fields = []
            return try finish(asCreated, StoreResult(item: item, stillPending: []))
        }
        withTree { tree in
            guard let node = tree.items[outgoing.number] else { return }
            tree.endFlight(node)
            node.flags.remove(.createSent)
            node.sentContent = nil
            if !tree.store.recognizesCreates { node.flags.insert(.mayAlreadyExist) }
            if node.isDeleted { tree.drop(node) } else { tree.note(node) }
        }
        return nil
    }

    /// Records that the store has deleted an item.
    func finishDeletion(_ outgoing: OutgoingCall) {
        withTree { tree in
            guard let node = tree.items[outgoing.number] else { return }
            tree.endFlight(node)
            guard node.isDeleted else {
                // The item was restored meanwhile: it is new to the store.
                return tree.convertToNewItem(node)
            }
            tree.supersede(node, [])
            tree.drop(node)
        }
    }
}

extension OutgoingCall {
    /// Whether the store may have had the item before, with contents that are unknown here.
    var mayHaveMet: Bool {
        switch call {
        case .create(let options): options.contains(.mayAlreadyExist)
        case .resolve: true
        case .modify, .delete: false
        }
    }

    /// Whether it changes an item's metadata or place only.
    var keepsContent: Bool {
        if case .modify = call { !fields.contains(.contents) } else { false }
    }

    /// Whether it creates the item in the store, or asks for one that was created.
    var isCreate: Bool {
        switch call {
        case .create, .resolve: true
        case .modify, .delete: false
        }
    }

    /// Whether an item of the store is at the place that this one was sent to.
    func isSentToPlace(of item: Item) -> Bool { item.filename == template.filename && item.parent == template.parent }

    /// Whether the store applied exactly what was sent.
    func isAnswered(by item: Item, _ result: StoreResult) -> Bool {
        isSentToPlace(of: item) && !result.shouldFetchContent
    }

    /// The fields that are still to be sent after an answer. Fields that the store cannot keep are given up: they stay
    /// local.
    func stillDirty(after result: StoreResult, since edited: ItemFields) -> ItemFields {
        if call == .resolve { return ItemFields.ofNew(template.kind).subtracting(.place) }
        let pending = result.stillPending == fields ? [] : result.stillPending
        return edited.union(pending)
    }
}
