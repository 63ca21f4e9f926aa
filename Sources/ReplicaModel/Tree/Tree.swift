internal import CLinux
internal import Glibc
internal import SystemPackage

/// The replica's items in memory, over the backing tree. Only touched under the replica's lock.
///
/// An item is loaded exactly when its folder's entries are, so that no name is ever half known.
final class Tree {
    let root: Node
    let database: ReplicaDatabase
    /// All loaded nodes, tombstones with them.
    var items: NodeTable<ItemNumber> = [:]
    /// A node for each inode number that the kernel may name.
    var nodesByInode: [ItemNumber: Node] = [:]
    /// The nodes of hard-linked files that share an inode number, but for the one that gave it.
    var linked: [ItemNumber: LinkedNames] = [:]
    var byIdentifier: NodeTable<ItemIdentifier> = [:]
    var nextNumber: UInt64
    /// The database says that all numbers below this one may be in use.
    var reservedNumber: UInt64 = 0
    /// What the database does not know yet.
    var changed: [ItemNumber: Node] = [:]
    var removed: Set<ItemNumber> = []
    /// What was set aside, as it was in the tree.
    var aside: [ItemRow] = []
    /// What the store had of items before they changed there.
    var superseded: [ItemRow] = []
    /// What the engine has to look at.
    var pending: [ItemNumber: Node] = [:]
    /// Pending items by the place that the store still has them at, though they left it here.
    var departed: [ItemPlace: ItemNumber] = [:]
    var departedFrom: [ItemNumber: Departures] = [:]
    /// Items by the place that they were sent to, as long as the store has not answered.
    private var unanswered: [ItemPlace: ItemNumber] = [:]
    var answers = AnswerLog()
    /// What the daemon's own requests at the mount will stand for.
    var presentations = Presentations()
    /// How often in a row the name of an item was said to be taken.
    var collisions: [ItemNumber: Int] = [:]
    /// Items with a file below that is open for writing, or was when the daemon died.
    var writing: [ItemNumber: Node] = [:]
    /// What a scan did not find where it was; found again elsewhere or, after the scan, gone.
    var missing: [ItemNumber: Node] = [:]
    var missingByInode: [UInt64: Node] = [:]
    /// Files with several names that a scan met, by inode number below.
    var linkedBelow: [UInt64: Node] = [:]
    /// Where a scan took away placeholders that nobody had recorded.
    var strays: Set<ItemPlace> = []
    /// What our placeholders bear.
    let mark: DatalessMark
    /// How folders are looked at when they are loaded.
    var scan = ScanMode.none
    /// Loaded folders with ``NodeFlags/needsListing``.
    var needsListing: Set<ItemNumber> = []
    /// Whether items may come back that had a number before.
    var hasFormer = false
    /// Whether anything is pinned.
    var hasPins = false
    /// What is to be kept here and is not all here.
    var wanted: Set<ItemNumber> = []
    /// Folders below which such may be.
    var wantedTrees: Set<ItemNumber> = []
    /// Whether programs may do only what the store's capabilities allow.
    var enforcesCapabilities = false
    /// What a store's word may bring.
    var privileges = Privileges()
    /// Whether the store has a trash.
    var keepsTrash = false
    /// Whether the store can tell names apart that differ in case.
    var isCaseSensitive = true
    /// Whether the store knows what a template made. Else it may have it already when it is sent again.
    var recognizesCreates = true
    /// How names are made that the store takes.
    var bounced = BouncedName()
    /// What items are called in the store while a ring of moves is taken apart.
    let passing: PassingName
    /// Items that the store would not call so.
    var stuck: Set<ItemNumber> = []
    /// Whether it is recorded when files are used.
    var keepsUse = false
    /// What became pending or was edited since the engine last asked.
    var news: [ItemNumber] = []
    /// When anything was last edited, in seconds since 1970.
    var editedAt = 0.0
    /// The folders already compared with the tree in this run.
    var scanned: Set<ItemNumber> = []
    /// Whether nodes came, changed or were given back by the kernel since those that nobody uses were let go.
    var mayHaveIdle = true
    /// What of it is on the disks.
    var rounds = Rounds()
    /// Whether the database was empty when this run began.
    var knewNothing = false
    /// Whether the database has no item but those that are loaded.
    var holdsAll = false
    private var openFolders: [Node] = []
    let clock: RunClock
    /// Raised by each change that comparing the tree with an older database would not find again.
    var untoldChanges: UInt64 = 0
    /// Called once for each item that became pending.
    var pendingChanged = false

    init(
        root descriptor: Int32, rootRow: ItemRow?, nextNumber: UInt64, database: ReplicaDatabase,
        mark: DatalessMark, clock: RunClock
    ) {
        self.mark = mark
        passing = PassingName(mark: mark.value)
        root =
            rootRow?.makeNode(parent: nil, now: clock.now())
            ?? Node(number: .root, parent: nil, name: FileName(""), kind: .folder)
        root.descriptor = descriptor
        self.nextNumber = nextNumber
        self.database = database
        self.clock = clock
        insert(root)
    }

    deinit {
        for node in items.values where node.descriptor >= 0 { close(node.descriptor) }
    }

    /// The time of this run, in seconds since 1970.
    func now() -> Double { clock.now() }

    // MARK: Nodes

    /// The loaded node that the kernel calls `number`.
    func node(_ number: ItemNumber) throws(ReplicaError) -> Node {
        guard let node = nodesByInode[number] else { throw .errno(Errno(rawValue: ESTALE)) }
        return node
    }

    func folder(_ number: ItemNumber) throws(ReplicaError) -> Node {
        let node = try node(number)
        guard node.kind == .folder else { throw .errno(.notDirectory) }
        return node
    }

    /// A new item in `parent`, in the tree of nodes already.
    /// - Parameter number: One that the item had before and that nothing else has; nil for a new one.
    func makeNode(in parent: Node, name: FileName, kind: ItemKind, number former: ItemNumber? = nil) -> Node {
        let node = Node(number: former ?? ItemNumber(nextNumber), parent: parent, name: name, kind: kind)
        if former == nil { nextNumber += 1 }
        if kind == .folder { node.children = [:] }
        insert(node)
        parent.children?[name] = node
        return node
    }

    func insert(_ node: Node) {
        mayHaveIdle = true
        items[node.number] = node
        if !node.isDeleted {
            if nodesByInode[node.inodeNumber] == nil || node.inodeNumber == node.number {
                nodesByInode[node.inodeNumber] = node
            }
            if node.inodeNumber != node.number { linked[node.inodeNumber, default: LinkedNames()].append(node) }
        }
        if let base = node.base { byIdentifier[base.identifier] = node }
        if node.isPending {
            pending[node.number] = node
            news.append(node.number)
            noteDeparture(node)
        }
        if node.flags.contains(.writing) { writing[node.number] = node }
        if node.flags.contains(.needsListing) { needsListing.insert(node.number) }
    }

    /// Says that the database has to learn the node's present state. Nothing is said of a node that was dropped.
    func note(_ node: Node) {
        // What was dropped may still be open; it must not come back.
        guard items[node.number] === node else { return }
        node.isRecorded = false
        mayHaveIdle = true
        changed[node.number] = node
        guard node.isPending else {
            if pending.removeValue(forKey: node.number) != nil, pending.isEmpty { forgetDepartures() }
            return
        }
        if pending.updateValue(node, forKey: node.number) == nil {
            pendingChanged = true
            news.append(node.number)
        }
        noteDeparture(node)
    }

    /// The item that a call of ours, which the store has not answered, may have put at this place.
    func unansweredItem(at name: FileName, in folder: Node) -> Node? {
        let key = ItemPlace(folder: folder.number, name: name)
        guard let number = unanswered[key] else { return nil }
        if let node = items[number], isUnanswered(node, at: key) { return node }
        unanswered[key] = nil
        return nil
    }

    /// Forgets where pending items were when there are none: after many, that is much.
    private func forgetDepartures() {
        (pending, departed, departedFrom) = ([:], [:], [:])
        unanswered = unanswered.filter { key, number in
            guard let node = items[number] else { return false }
            return isUnanswered(node, at: key)
        }
    }

    private func isUnanswered(_ node: Node, at key: ItemPlace) -> Bool {
        guard node.isUnanswered || node.isInFlight, let sent = node.sent else { return false }
        return sent.parent == key.folder && sent.name == key.name
    }

    private func noteDeparture(_ node: Node) {
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

    /// Notes a local change of `fields`: an edit the store has to learn of.
    func edit(_ node: Node, _ fields: ItemFields) {
        guard !node.flags.contains(.special) else { return note(node) }
        if node.base != nil, !fields.isDisjoint(with: .untoldByStatus) { untoldChanges += 1 }
        node.dirty.formUnion(fields)
        if node.isInFlight { node.dirtySinceSent.formUnion(fields) }
        touch(node)
        clearFailure(node)
        node.flags.subtract([.excluded, .refused])
        pendingChanged = true
        note(node)
    }

    /// How often in a row a node's name was said to be taken: a store that says so of every name is not believed for ever.
    static let mostCollisions = 4

    /// Counts an edit of a node: what was sent of it, or planned, may be out of date.
    func touch(_ node: Node) {
        node.edits += 1
        node.changedAt = now()
        editedAt = node.changedAt
    }

    /// An edit, or the store's newer state, ends the wait after a failure.
    func clearFailure(_ node: Node) {
        stuck.remove(node.number)
        guard node.failure != nil else { return }
        node.failure = nil
        pendingChanged = true
        news.append(node.number)
    }

    func setBase(_ base: Base?, of node: Node) {
        if let old = node.base, byIdentifier[old.identifier] === node {
            byIdentifier[old.identifier] = nil
            if base?.identifier != old.identifier { answers.note(old.identifier) }
        }
        if base?.version.content != node.base?.version.content { node.syncedSize = nil }
        node.base = base
        if let base { byIdentifier[base.identifier] = node }
        note(node)
    }

    /// Forgets an item for good.
    func drop(_ node: Node) {
        unlink(node)
        setBase(nil, of: node)
        pending[node.number] = nil
        changed[node.number] = nil
        writing[node.number] = nil
        items[node.number] = nil
        needsListing.remove(node.number)
        // Who still has it open finds it by its descriptor, never by a name that may be another's by now.
        node.parent = nil
        removed.insert(node.number)
    }

    /// Takes a node out of its folder. What the kernel still holds stays reachable by its inode number.
    func unlink(_ node: Node) {
        if let parent = node.parent, parent.children?[node.name] === node { parent.children?[node.name] = nil }
        node.parent = nil
        missing[node.number] = nil
        linked[node.inodeNumber]?.remove(node)
        if linked[node.inodeNumber]?.isEmpty == true { linked[node.inodeNumber] = nil }
        guard nodesByInode[node.inodeNumber] === node else { return }
        if let other = linked[node.inodeNumber]?.first ?? items[node.inodeNumber].flatMap({ $0 === node ? nil : $0 }) {
            nodesByInode[node.inodeNumber] = other
            handOver(node, to: other)
        } else if node.lookups == 0 && node.opens == 0 {
            nodesByInode[node.inodeNumber] = nil
        }
    }

    /// Whether somebody has the node's file open for writing, under whichever name.
    func isWritten(_ node: Node) -> Bool { (nodesByInode[node.inodeNumber] ?? node).writers > 0 }

    /// Moves what the kernel holds of a file to another of its names.
    func handOver(_ node: Node, to other: Node) {
        other.lookups += node.lookups
        other.opens += node.opens
        other.writers += node.writers
        other.generation = max(other.generation, node.generation)
        other.shown = node.shown
        if node.writers > 0 {
            writing[node.number] = nil
            writing[other.number] = other
        }
        (node.lookups, node.opens, node.writers) = (0, 0, 0)
    }

    // MARK: Descriptors

    /// An `O_PATH` descriptor of a folder; valid until the lock is given back.
    func descriptor(of folder: Node) throws(ReplicaError) -> Int32 {
        if folder.descriptor >= 0 { return folder.descriptor }
        guard let parent = folder.parent else { throw .errno(.noSuchFileOrDirectory) }
        let above = try descriptor(of: parent)
        let opened = folder.name.withCString {
            openat(above, $0, CL_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        }
        guard opened >= 0 else { throw .errno(.last) }
        do throws(ReplicaError) {
            try demandShown(try errnos { () throws(Errno) in try FileStatus(descriptor: opened) }, as: folder)
        } catch {
            close(opened)
            throw error
        }
        folder.descriptor = opened
        openFolders.append(folder)
        return opened
    }

    /// How many folders stay open; each costs a descriptor.
    private static let mostOpenFolders = 1024

    /// Closes what a node holds open.
    func closeDescriptor(of node: Node) {
        guard node.descriptor >= 0, node !== root else { return }
        close(node.descriptor)
        node.descriptor = -1
    }

    /// Closes the folders opened longest ago when there are too many.
    func closeFolders() {
        guard openFolders.count > Self.mostOpenFolders else { return }
        let surplus = openFolders.count - Self.mostOpenFolders / 2
        for folder in openFolders.prefix(surplus) where folder.descriptor >= 0 && folder.parent != nil {
            close(folder.descriptor)
            folder.descriptor = -1
        }
        openFolders.removeFirst(surplus)
    }
}

/// Whether folders are compared with the backing tree when they are loaded; the later ones are the more careful.
enum ScanMode: Int, Comparable {
    /// The last stop was orderly.
    case none
    /// The daemon died: what is gone from the tree was removed.
    case afterCrash
    /// Nothing was known before: what is in the tree may be in the store already.
    case importing
    /// Power failed: what is gone from the tree is brought back.
    case afterPowerCut
    /// The tree or the database was exchanged: also what is known of the disk says nothing of this tree.
    case afterExchange

    /// Whether what is gone may be lost.
    var isCareful: Bool { self >= .afterPowerCut }
    static func < (one: ScanMode, other: ScanMode) -> Bool { one.rawValue < other.rawValue }
}
