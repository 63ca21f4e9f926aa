/// Passing names (``PassingName``): none is seen here, and none stays in the store longer than that refuses another.
extension Tree {
    /// A name for an item that makes room in the store, which nothing else has, as far as is known.
    func passingName(of node: Node, in folder: Node) -> FileName {
        // Another client's file, which nobody here knows of, is in the way once only.
        var attempt = storeNames.collisions(of: node)
        while true {
            let name = storeNames.passing.of(node.number, node.name, attempt: attempt, storeNames.bounced)
            if folder.children?[name] == nil { return name }
            attempt += 1
        }
    }

    /// Whether the store would not call an item so, and is not to be asked again yet.
    func isStuck(_ node: Node) -> Bool {
        guard storeNames.isStuck(node), let failure = node.failure else { return false }
        return failure.retryAt.map { $0 > now() } ?? true
    }

    /// What an item of the store is called in a folder here, whose entries are loaded.
    /// - Parameter node: The item, when it is here already.
    func nameHere(of item: Item, as node: Node?, in folder: Node) -> FileName {
        guard let meaning = storeNames.passing.meaning(of: item.filename), node?.name != item.filename else {
            return item.filename
        }
        let name = node?.name ?? meaning
        func isTaken(_ name: FileName) -> Bool { folder.children?[name].map { $0 !== node } ?? false }
        return isTaken(name) ? storeNames.bounced.free(besides: name, isTaken: isTaken) : name
    }

    /// Takes the store's passing name for what it is: no move, and not the last word. What somebody here calls so is a name.
    func meetPassing(_ item: Item, as node: Node) {
        guard storeNames.passing.isPassing(item.filename), node.name != item.filename, var base = node.base,
            !base.isNamed(item.filename)
        else { return }
        base.name = item.filename
        setBase(base, of: node)
        sendName(of: node)
    }

    /// Has an item get its name in the store, which calls it otherwise.
    func sendName(of node: Node) {
        if !node.isDeleted { node.comparePlace() }
        pending.wake()
        note(node)
    }
}
