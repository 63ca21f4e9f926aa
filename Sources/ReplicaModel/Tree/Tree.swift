internal import CLinux
internal import Glibc
internal import SystemPackage

/// The replica's items in memory, over the backing tree. Only accessed under the replica's lock.
///
/// An item is loaded exactly when its folder's entries are, so that a folder's names are known completely or not at
/// all. Large: one lock protects all of it, so it has the methods of all flows, each in its source folder.
final class Tree {
    let root: Node
    let database: ReplicaDatabase
    var items: NodeIndex
    /// The mark of our placeholders.
    let mark: DatalessMark
    let clock: RunClock
    /// Whether a store to a mapped page changes a file's times although the content was sent before. Not on tmpfs, where pages are
    /// never clean.
    let noticesStores: Bool
    var unrecorded = Unrecorded()
    var pending = PendingIndex()
    var store: StoreView
    /// The changes that the daemon's own requests at the mount will make.
    var presentations = Presentations()
    var wanted = WantedItems()
    /// Nil if the tree is known to be as recorded.
    var scan: ScanState?

    init(
        root descriptor: Int32, rootRow: ItemRow?, nextNumber: UInt64, database: ReplicaDatabase,
        mark: DatalessMark, clock: RunClock
    ) {
        self.mark = mark
        store = StoreView(names: StoreNames(interim: InterimName(mark: mark.value)))
        items = NodeIndex(numbers: ItemNumberAllocator(next: nextNumber))
        root =
            rootRow?.makeNode(parent: nil, now: clock.now())
            ?? Node(number: .root, parent: nil, name: FileName(""), kind: .folder)
        root.descriptor = descriptor
        self.database = database
        self.clock = clock
        noticesStores = !Self.isInMemory(descriptor)
        let isOfFormerRelease = !root.dirty.isEmpty || root.failure != nil
        (root.dirty, root.failure) = ([], nil)
        insert(root)
        if isOfFormerRelease { note(root) }
    }

    /// Whether a file is on tmpfs or ramfs.
    private static func isInMemory(_ file: Int32) -> Bool {
        var status = cl_statfs()
        return cl_statfs_of(file, &status) == 0
            && [0x0102_1994, 0x8584_58F6].contains(UInt32(truncatingIfNeeded: status.type))
    }

    deinit {
        for node in items.values where node.descriptor >= 0 { close(node.descriptor) }
    }

    // MARK: Nodes

    /// The loaded node with the kernel's inode number of `item`.
    /// - Throws: ESTALE if there is none, or not the one that the kernel means.
    func node(_ item: some ItemReference) throws(ReplicaError) -> Node {
        guard let node = items[inode: item.number] else { throw .errno(.stale) }
        guard item.generation == nil || node === root || item.isMeant(node.generation) && node.isKnownToKernel else {
            throw .errno(.stale)
        }
        return node
    }

    func folder(_ item: some ItemReference) throws(ReplicaError) -> Node {
        let node = try node(item)
        guard node.kind == .folder else { throw .errno(.notDirectory) }
        return node
    }

    /// Creates a node for a new item in `parent`.
    /// - Parameter number: The item's former number, if no other item has it; nil for a new one.
    func addNode(in parent: Node, name: FileName, kind: ItemKind, number former: ItemNumber? = nil) -> Node {
        let node = Node(number: former ?? items.numbers.take(), parent: parent, name: name, kind: kind)
        if kind == .folder { node.children = [:] }
        insert(node)
        parent.children?[name] = node
        return node
    }

    func insert(_ node: Node) {
        items.insert(node)
        pending.insert(node)
    }

    /// Marks the node to be recorded. Does nothing for a dropped node.
    func note(_ node: Node) {
        // A dropped node may still be open; it must not come back.
        guard items[node.number] === node else { return }
        items.mayHaveIdle = true
        unrecorded.note(node)
        pending.update(node, among: items.byNumber)
    }

    /// The item that a call of ours, which the store has not answered, may have put at this place.
    func unansweredItem(at name: FileName, in folder: Node) -> Node? {
        pending.unansweredItem(at: ItemPlace(folder: folder.number, name: name), among: items.byNumber)
    }

    /// Notes a local change of `fields`, which has to be sent.
    func edit(_ node: Node, _ fields: ItemFields) {
        // The store's root is not ours to change: it may be shared, or not have any of this (SEMANTICS).
        guard !node.flags.contains(.special), node !== root else { return note(node) }
        if node.base != nil, !fields.isDisjoint(with: .unobservable) { unrecorded.noteUnobservable() }
        // A new edit: what was synced before says nothing about it.
        if fields.contains(.contents), !node.dirty.contains(.contents), !items.holder(of: node).hasSyncedWriter {
            node.syncedSize = nil
        }
        node.dirty.formUnion(fields)
        if node.isInFlight { node.dirtySinceSent.formUnion(fields) }
        touch(node)
        clearFailure(node)
        node.flags.subtract([.excluded, .refused])
        pending.wake()
        note(node)
    }

    /// Counts an edit of a node: plans for it may be outdated.
    func touch(_ node: Node) {
        node.edits += 1
        node.changedAt = clock.now()
        pending.noteEdit(at: node.changedAt)
    }

    /// Ends the wait after a failure, because of an edit or the store's newer state.
    func clearFailure(_ node: Node) {
        store.names.clearStuck(node)
        guard node.failure != nil else { return }
        node.failure = nil
        pending.tell(node)
    }

    func setBase(_ base: Base?, of node: Node) {
        if base?.version.content != node.base?.version.content { node.syncedSize = nil }
        if let former = items.setBase(base, of: node) { store.answers.note(former) }
        note(node)
    }

    /// Removes an item permanently.
    func drop(_ node: Node) {
        unlink(node)
        setBase(nil, of: node)
        pending.remove(node.number)
        items.remove(node)
        // Programs that have it open reach it by its descriptor, never by a name that may belong to another file.
        node.parent = nil
        unrecorded.remove(node.number)
    }

    /// Removes a node from its folder. A node that the kernel holds stays reachable by its inode number.
    func unlink(_ node: Node) {
        if let parent = node.parent, parent.children?[node.name] === node { parent.children?[node.name] = nil }
        node.parent = nil
        scan?.forget(node)
        items.unlink(node)
    }

    /// Whether a program may write to the node's file, under any of its names.
    func isWritten(_ node: Node) -> Bool {
        let holder = items.holder(of: node)
        return holder.writers > 0 || holder.mayBeMapped
    }

    // MARK: Descriptors

    /// An `O_PATH` descriptor of a folder; valid until the lock is released.
    /// - Throws: EBUSY if a filesystem is mounted there in the backing tree.
    func descriptor(of folder: Node) throws(ReplicaError) -> Int32 {
        if folder.descriptor >= 0 { return folder.descriptor }
        guard let parent = folder.parent else { throw .errno(.noSuchFileOrDirectory) }
        let above = try descriptor(of: parent)
        let opened = folder.name.withCString {
            openat(above, $0, CL_O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        }
        guard opened >= 0 else { throw .errno(.last) }
        do throws(ReplicaError) {
            let status = try errnos { () throws(Errno) in try FileStatus(descriptor: opened) }
            // A filesystem that is mounted there is not the domain's.
            guard !status.isMountPoint else { throw .errno(.resourceBusy) }
            try demandKernelFile(status, as: folder)
        } catch {
            close(opened)
            throw error
        }
        folder.descriptor = opened
        items.noteOpen(folder)
        return opened
    }

    /// Closes a node's descriptor.
    func closeDescriptor(of node: Node) {
        guard node.descriptor >= 0, node !== root else { return }
        close(node.descriptor)
        node.descriptor = -1
    }
}
