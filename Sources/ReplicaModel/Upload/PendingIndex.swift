/// The items to be sent, and the places that they have, had or may have in the store.
struct PendingIndex {
    private var nodes: [ItemNumber: Node] = [:]
    /// Pending items that were moved or deleted here, by the place that they still have in the store.
    private var departed: [ItemPlace: ItemNumber] = [:]
    private var departedFrom: [ItemNumber: Departures] = [:]
    /// Items by the place that they were sent to, until the store has answered.
    private var unanswered: [ItemPlace: ItemNumber] = [:]
    /// Items that became pending or were edited since the engine's last request.
    private var news: [ItemNumber] = []
    /// The time of the last edit, in seconds since 1970.
    private(set) var editedAt = 0.0
    /// Whether the engine has to be woken.
    private var isChanged = false

    var isEmpty: Bool { nodes.isEmpty }
    var count: Int { nodes.count }
    var values: Dictionary<ItemNumber, Node>.Values { nodes.values }
    subscript(number: ItemNumber) -> Node? { nodes[number] }

    // MARK: Changes

    /// Adds a node that was loaded into memory.
    mutating func insert(_ node: Node) {
        guard node.isPending else { return }
        nodes[node.number] = node
        news.append(node.number)
        noteDeparture(node)
    }

    /// Updates the index after a change of a node.
    /// - Parameter items: All nodes.
    mutating func update(_ node: Node, among items: NodeTable<ItemNumber>) {
        guard node.isPending else {
            if nodes.removeValue(forKey: node.number) != nil, nodes.isEmpty { forgetDepartures(items) }
            return
        }
        if nodes.updateValue(node, forKey: node.number) == nil { tell(node) }
        noteDeparture(node)
    }

    mutating func remove(_ number: ItemNumber) { nodes[number] = nil }

    /// Makes the engine check a node.
    mutating func tell(_ node: Node) {
        news.append(node.number)
        isChanged = true
    }

    /// Makes the engine look for work.
    mutating func wake() { isChanged = true }

    mutating func noteEdit(at time: Double) { editedAt = time }

    // MARK: What the engine asks

    /// The items that became pending or were edited since the last call.
    mutating func takeChanged() -> [ItemNumber] {
        defer { news.removeAll(keepingCapacity: true) }
        return news
    }

    /// Whether the engine has to be woken; resets the flag.
    mutating func takeChange() -> Bool {
        defer { isChanged = false }
        return isChanged
    }

    // MARK: Places in the store

    /// The item that an unanswered call may have put at this place.
    mutating func unansweredItem(at place: ItemPlace, among items: NodeTable<ItemNumber>) -> Node? {
        guard let number = unanswered[place] else { return nil }
        if let node = items[number], Self.isUnanswered(node, at: place) { return node }
        unanswered[place] = nil
        return nil
    }

    /// The item that left this place here and still has it in the store.
    func departedItem(at place: ItemPlace) -> Node? {
        guard let node = departed[place].flatMap({ nodes[$0] }), let known = node.placeInStore else { return nil }
        return known.parent == place.folder && known.name == place.name ? node : nil
    }

    /// A deleted or moved item that the store still has in the folder, or may have by now.
    mutating func remainingItem(in folder: ItemNumber) -> ItemNumber? {
        while let number = departedFrom[folder]?.last {
            if let node = nodes[number], node.mayBeInStore(in: folder) { return number }
            departedFrom[folder]?.removeLast()
        }
        return nil
    }

    /// Whether an item that was moved out of the folder here is still in it in the store.
    func hasDeparted(from folder: ItemNumber) -> Bool {
        departedFrom[folder]?.contains { nodes[$0]?.base?.parent == folder } ?? false
    }

    /// Removes the records of the items that left the folder.
    /// - Returns: Those that are still pending.
    mutating func takeDeparted(from folder: ItemNumber) -> [Node] {
        var departed: [Node] = []
        while let number = departedFrom[folder]?.last {
            departedFrom[folder]?.removeLast()
            if let node = nodes[number] { departed.append(node) }
        }
        return departed
    }

    private mutating func noteDeparture(_ node: Node) {
        if let sent = node.sent {
            unanswered[ItemPlace(folder: sent.parent, name: sent.name)] = node.number
            if node.parent?.number != sent.parent {
                departedFrom[sent.parent, default: Departures()].insert(node.number)
            }
        }
        guard let place = node.placeInStore, node.isDeleted || !node.dirty.isDisjoint(with: .place) else { return }
        departed[ItemPlace(folder: place.parent, name: place.name)] = node.number
        departedFrom[place.parent, default: Departures()].insert(node.number)
    }

    /// Drops the former places once nothing is pending: after many items, they take much memory.
    private mutating func forgetDepartures(_ items: NodeTable<ItemNumber>) {
        (nodes, departed, departedFrom) = ([:], [:], [:])
        unanswered = unanswered.filter { place, number in
            items[number].map { Self.isUnanswered($0, at: place) } ?? false
        }
    }

    private static func isUnanswered(_ node: Node, at place: ItemPlace) -> Bool {
        guard node.isUnanswered || node.isInFlight, let sent = node.sent else { return false }
        return sent.parent == place.folder && sent.name == place.name
    }
}

extension Node {
    /// Whether the store has the item in `folder`, or may have it because of an unanswered call.
    fileprivate func mayBeInStore(in folder: ItemNumber) -> Bool {
        placeInStore?.parent == folder || (isUnanswered || isInFlight) && sent?.parent == folder
    }
}
