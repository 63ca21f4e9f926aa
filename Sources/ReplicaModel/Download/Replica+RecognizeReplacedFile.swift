internal import SystemPackage

extension Replica {
    /// Recognizes files that were saved in the store by writing a temporary file and renaming it over the original,
    /// either by another program or by a call of ours whose answer was lost: the missing file and the new one at its
    /// place are one item with a new identifier. Deleting the old identifier then does nothing, except for changes
    /// noted before. The item known under the temporary name is removed: its removal is appended to `changes`.
    /// - Parameter arrivals: The files reported so far in answer to the same request; those in `changes` are added.
    func recognizeSuccessors(in changes: inout [Incoming], _ arrivals: inout Arrivals) throws(LocalStateFailure) {
        for case let item? in changes.lazy.map(\.item) where item.kind == .file {
            arrivals[StorePlace(parent: item.parent, name: item.filename)] = item.identifier
        }
        guard changes.contains(where: { $0.item == nil }) else { return }
        do throws(ReplicaError) {
            try withTreeWaking { (tree) throws(ReplicaError) in
                var renamed: [ItemIdentifier: ItemIdentifier] = [:]
                for change in changes where change.item == nil {
                    guard let stale = try tree.adoptSuccessor(change.identifier, by: arrivals, &renamed) else {
                        continue
                    }
                    changes.append(Incoming(identifier: stale, item: nil, asked: tree.store.answers.count))
                }
                try tree.renameOrigins(renamed)
            }
        } catch {
            throw LocalStateFailure(message: "the tree cannot be read: \(error.errno)")
        }
    }
}

/// The reported files by place.
typealias Arrivals = [StorePlace: ItemIdentifier]

/// A name in a folder of the store.
struct StorePlace: Hashable {
    var parent: ItemIdentifier
    var name: FileName
}

extension Tree {
    /// Gives the node of `identifier` the identifier of the new file at its place, if there is one.
    /// - Parameter renamed: Receives the new identifier.
    /// - Returns: The new identifier of the item known under the temporary name, which has to be removed.
    fileprivate func adoptSuccessor(
        _ identifier: ItemIdentifier, by arrivals: Arrivals, _ renamed: inout [ItemIdentifier: ItemIdentifier]
    ) throws(ReplicaError) -> ItemIdentifier? {
        guard let node = try find(identifier), node.kind == .file, !node.isDeleted, var base = node.base,
            let successor = try successor(of: node, base, arrivals), successor != identifier
        else { return nil }
        let beside = try find(successor)
        if let beside, !beside.mayGo(for: node) { return nil }
        let stale = beside.flatMap(makeStale)
        base.identifier = successor
        setBase(base, of: node)
        renamed[identifier] = successor
        return stale
    }

    /// The conflict copies of items remember these by their identifiers.
    /// - Parameter renamed: The new identifiers, by the former ones.
    fileprivate func renameOrigins(_ renamed: [ItemIdentifier: ItemIdentifier]) throws(ReplicaError) {
        guard !renamed.isEmpty else { return }
        let recorded = try reading { try ItemRow.conflicts(in: $0) }.map { ItemNumber($0.number) }
        for number in Set(recorded).union(unrecorded.nodes.keys) {
            guard let copy = try find(number), let successor = copy.conflict.flatMap({ renamed[$0.original] }) else {
                continue
            }
            copy.conflict?.original = successor
            note(copy)
        }
    }

    /// Renames an item that another one replaces, to a name that the store doesn't have.
    func makeStale(_ node: Node) -> ItemIdentifier? {
        guard var base = node.base else { return nil }
        base.identifier = ItemIdentifier("replica:stale-\(node.number.rawValue)")
        setBase(base, of: node)
        return base.identifier
    }

    /// The new file at the place where the store had the item, or where an unanswered call was to put it.
    private func successor(
        of node: Node, _ base: Base, _ arrivals: Arrivals
    ) throws(ReplicaError) -> ItemIdentifier? {
        if let folder = try find(base.parent)?.base?.identifier,
            let found = arrivals[StorePlace(parent: folder, name: base.name)]
        {
            return found
        }
        guard let sent = node.sentContent, let folder = try find(sent.parent)?.base?.identifier else { return nil }
        return arrivals[StorePlace(parent: folder, name: sent.name)]
    }
}

extension Node {
    /// Whether nothing is lost if another file takes over this item: it has no changes to send, and if its content is
    /// local, the other file's content is fetched.
    fileprivate func mayGo(for other: Node) -> Bool {
        guard kind == .file, !isPending, flags.isEmpty, !isInFlight, writers == 0, failure == nil, pin == .inherited
        else { return false }
        return materialization == .dataless || fingerprint.size == 0 || other.materialization == .whole
    }
}
