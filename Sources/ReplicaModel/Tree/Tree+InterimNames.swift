/// Interim names (``InterimName``): they never appear here, and in the store only until the item's own name is free.
extension Tree {
    /// An interim name for an item that has to make room in the store. As far as is known, nothing else has it.
    func interimName(of node: Node, in folder: Node) -> FileName {
        // Another client's unknown file is in the way only once.
        var attempt = store.names.collisions(of: node)
        while true {
            let name = store.names.interim.of(node.number, node.name, attempt: attempt, store.names.conflicts)
            if folder.children?[name] == nil { return name }
            attempt += 1
        }
    }

    /// Whether the store rejected an item's interim name, and it is too early to retry.
    func isStuck(_ node: Node) -> Bool {
        guard store.names.isStuck(node), let failure = node.failure else { return false }
        return failure.retryAt.map { $0 > clock.now() } ?? true
    }

    /// The local name of an item of the store in a folder whose entries are loaded.
    /// - Parameter node: The item, if it exists here already.
    func nameHere(of item: Item, as node: Node?, in folder: Node) -> FileName {
        guard let meaning = store.names.interim.meaning(of: item.filename), node?.name != item.filename else {
            return item.filename
        }
        let name = node?.name ?? meaning
        func isTaken(_ name: FileName) -> Bool { folder.children?[name].map { $0 !== node } ?? false }
        return isTaken(name) ? store.names.conflicts.free(besides: name, isTaken: isTaken) : name
    }

    /// The name that the store has an item under; the local one while that is an interim name.
    func ownName(of node: Node, _ base: Base) -> FileName {
        store.names.interim.isInterim(base.name) ? node.name : base.name
    }

    /// Recognizes an interim name in the store's answer: it is neither a move nor final. A local item may really have such a
    /// name.
    func recognizeInterimName(_ item: Item, as node: Node) {
        guard store.names.interim.isInterim(item.filename), node.name != item.filename, var base = node.base,
            !base.isNamed(item.filename)
        else { return }
        base.name = item.filename
        setBase(base, of: node)
        sendName(of: node)
    }

    /// Sends an item's name to the store, which has another one.
    func sendName(of node: Node) {
        if !node.isDeleted { node.comparePlace() }
        pending.wake()
        note(node)
    }
}
