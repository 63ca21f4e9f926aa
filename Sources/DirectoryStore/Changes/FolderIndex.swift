import ReplicaModel

/// What is known of the tree: exactly what stands in each listed folder, and hints about the rest. It is only ever a
/// help to find entries; every use looks at the entry itself again.
struct FolderIndex {
    struct Node {
        var place: Place
        var stamp: Stamp
        var isFolder: Bool
    }

    /// An item that left its place and was not seen in another one yet.
    struct Orphan {
        var since: ContinuousClock.Instant
        /// Whether it may stand in a folder that is not listed. False for what was unlinked or replaced.
        var mayBeElsewhere: Bool
    }

    /// Invariant: a node that is no orphan stands in `children` of its parent, unless that one is not listed.
    private(set) var nodes: [ItemKey: Node] = [:]
    /// The entries of the listed folders, and of no others.
    private(set) var children: [ItemKey: [FileName: ItemKey]] = [:]
    /// The folders in `nodes` that are not listed.
    private(set) var unlisted: Set<ItemKey> = []
    /// Where a scan of the tree saw items that `nodes` does not have.
    private(set) var hints: [ItemKey: Place] = [:]
    private(set) var orphans: [ItemKey: Orphan] = [:]
    private var busy: [Place: Int] = [:]
    private var postponed: [Place: ChangeCause] = [:]
    /// Events whose folder could not be found; asked again.
    private(set) var unsettled: [Place: ChangeCause] = [:]
    var log = ChangeLog()

    func place(of key: ItemKey) -> Place? { nodes[key]?.place ?? hints[key] }

    /// The names that lead from the root to an item; nil when it is unknown.
    func names(of key: ItemKey) -> [FileName]? {
        var names: [FileName] = []
        var current = key
        while current != .root {
            // No path is this deep; hints of different times can form a ring.
            guard names.count < 4_096, let place = place(of: current) else { return nil }
            names.append(place.name)
            current = place.parent
        }
        return names.reversed()
    }

    func isListed(_ key: ItemKey) -> Bool { children[key] != nil }

    /// From now on the folder's entries are known and its changes told.
    mutating func list(_ key: ItemKey) {
        if children[key] == nil { children[key] = [:] }
        unlisted.remove(key)
    }

    /// Takes over what the store itself found or did at a place, without telling it as a change.
    mutating func record(_ status: FileStatus, at place: Place) {
        let key = ItemKey(status, at: place)
        guard isListed(place.parent) else { return recordUnlisted(key, status, at: place) }
        detach(from: place, unless: key, mayBeElsewhere: true)
        attach(key, status, at: place)
    }

    private mutating func recordUnlisted(_ key: ItemKey, _ status: FileStatus, at place: Place) {
        guard let old = nodes[key]?.place else {
            hints[key] = place
            return
        }
        if children[old.parent]?[old.name] == key { children[old.parent]?[old.name] = nil }
        nodes[key]?.place = place
        nodes[key]?.stamp = status.stamp
        orphans[key] = nil
    }

    /// Compares what now is at a place with what was there, and tells the difference.
    mutating func settle(_ place: Place, _ status: FileStatus?, _ cause: ChangeCause) {
        guard isListed(place.parent) else { return }
        if busy[place] != nil {
            postponed[place, default: []].formUnion(cause)
            return
        }
        let key = status.map { ItemKey($0, at: place) }
        detach(from: place, unless: key, mayBeElsewhere: cause.contains(.movedAway))
        guard let key, let status else { return }
        if let node = nodes[key], node.place == place, orphans[key] == nil, !isNews(status, node.stamp, cause) {
            return
        }
        attach(key, status, at: place)
        log.add(key)
    }

    /// A folder's times move with its children, so that they count only when its own attributes are said to change.
    private func isNews(_ status: FileStatus, _ stamp: Stamp, _ cause: ChangeCause) -> Bool {
        if status.kind == .folder, !cause.contains(.attributes) { return false }
        return status.stamp != stamp
    }

    private mutating func detach(from place: Place, unless key: ItemKey?, mayBeElsewhere: Bool) {
        guard let old = children[place.parent]?[place.name], old != key else { return }
        children[place.parent]?[place.name] = nil
        if nodes[old]?.place == place {
            orphans[old] = Orphan(since: .now, mayBeElsewhere: mayBeElsewhere)
        }
    }

    private mutating func attach(_ key: ItemKey, _ status: FileStatus, at place: Place) {
        if let old = nodes[key]?.place, old != place, children[old.parent]?[old.name] == key {
            children[old.parent]?[old.name] = nil
        }
        children[place.parent]?[place.name] = key
        nodes[key] = Node(place: place, stamp: status.stamp, isFolder: status.kind == .folder)
        hints[key] = nil
        orphans[key] = nil
        if status.kind == .folder, !isListed(key) { unlisted.insert(key) }
    }

    /// Forgets an item and all below it.
    /// - Returns: The keys forgotten, children first.
    @discardableResult
    mutating func forget(_ key: ItemKey) -> [ItemKey] {
        var gone: [ItemKey] = []
        for child in (children[key] ?? [:]).values { gone += forget(child) }
        if let place = place(of: key), children[place.parent]?[place.name] == key {
            children[place.parent]?[place.name] = nil
        }
        children[key] = nil
        nodes[key] = nil
        hints[key] = nil
        orphans[key] = nil
        unlisted.remove(key)
        return gone + [key]
    }

    /// Takes over what a scan of the whole tree or of parts of it found.
    mutating func addHints(_ found: [ItemKey: Place]) {
        for (key, place) in found where nodes[key] == nil || orphans[key] != nil { hints[key] = place }
    }

    /// Settles an orphan that a scan found in a folder which is not listed.
    mutating func adopt(_ key: ItemKey, at place: Place) {
        orphans[key] = nil
        nodes[key]?.place = place
        hints[key] = nil
        log.add(key)
    }

    /// Forgets everything and expires the anchors; what was known stays as hints.
    mutating func expire() {
        for (key, node) in nodes { hints[key] = node.place }
        nodes = [:]
        children = [:]
        unlisted = []
        orphans = [:]
        unsettled = [:]
        log.expire()
    }

    /// Hands over the events to be asked again.
    mutating func takeUnsettled() -> [Place: ChangeCause] {
        let taken = unsettled
        unsettled = [:]
        return taken
    }

    /// Keeps events for another time, but those of folders that nobody is told about any more.
    mutating func addUnsettled(_ places: [Place: ChangeCause]) {
        for (place, cause) in places where isListed(place.parent) {
            unsettled[place, default: []].formUnion(cause)
        }
    }

    /// Keeps events at places where the store itself is at work from being told.
    mutating func begin(_ places: [Place]) {
        for place in places { busy[place, default: 0] += 1 }
    }

    /// Lets events at these places be told again, beginning with those that came meanwhile.
    /// - Returns: Whether there are any.
    mutating func end(_ places: [Place]) -> Bool {
        var hasEvents = false
        for place in places {
            let count = (busy[place] ?? 1) - 1
            busy[place] = count == 0 ? nil : count
            if count == 0, let cause = postponed.removeValue(forKey: place) {
                unsettled[place, default: []].formUnion(cause)
                hasEvents = true
            }
        }
        return hasEvents
    }
}
