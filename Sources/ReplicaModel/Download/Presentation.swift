internal import SystemPackage
internal import Threads

/// Makes a remote change through the mount, so that the kernel's caches and inotify's watchers learn of it
/// (MODEL.md#presentation): the daemon makes the system call at the mount, and recognizes its own request.
package protocol Presenter: Sendable {
    /// Makes the system call. Returns false if it could not be made; the change is then made directly in the backing
    /// tree.
    /// - Parameter ticket: The change that the call is for: its request hands it to ``Replica/performPresented(_:_:in:)``.
    func present(_ call: PresentedCall, _ ticket: PresentationTicket) -> Bool
    /// Invalidates a name and its folder's listing in the kernel. Must not be called with the replica's lock held.
    func invalidate(_ name: FileName, in folder: ItemNumber)
    /// Invalidates an item's attributes and content in the kernel. Must not be called with the replica's lock held.
    func invalidate(_ number: ItemNumber)
    /// Calls `body` when the kernel has carried out everything that was invalidated before.
    func afterInvalidations(_ body: @escaping @Sendable () -> Void)
}

/// An item, and its path from the mount's root.
///
/// The path was correct when it was determined. A user who may rename there can replace the item, or any folder on the
/// path by a symlink, before the path is walked: only an entry with this number is the item.
package struct PresentedItem: Sendable, Hashable {
    /// The names from the root down; empty for the root itself.
    package var path: [FileName]
    /// The inode number that programs see.
    package var number: ItemNumber

    /// The item `number` at `path`.
    package init(path: [FileName], number: ItemNumber) {
        self.path = path
        self.number = number
    }
}

/// The system call that presents a remote change.
package enum PresentedCall: Sendable, Hashable {
    case makeFile(FileName, in: PresentedItem)
    case makeFolder(FileName, in: PresentedItem)
    case makeSymlink(FileName, in: PresentedItem)
    case rename(FileName, in: PresentedItem, to: FileName, into: PresentedItem)
    case remove(FileName, in: PresentedItem, isFolder: Bool)
    /// The content changed.
    case touchContent(PresentedItem, size: Int64)
    /// Only the status changed.
    case touchStatus(PresentedItem)

    /// The names that it changes, first the one in its request. For a call on an item itself: its number, with an empty
    /// name.
    var places: [ItemPlace] {
        switch self {
        case .makeFile(let name, let folder), .makeFolder(let name, let folder), .makeSymlink(let name, let folder),
            .remove(let name, let folder, _):
            [ItemPlace(folder: folder.number, name: name)]
        case .rename(let old, let from, let new, let into):
            [ItemPlace(folder: from.number, name: old), ItemPlace(folder: into.number, name: new)]
        case .touchContent(let item, _), .touchStatus(let item): [ItemPlace(folder: item.number, name: FileName(""))]
        }
    }

    /// The call that creates an item of this kind.
    static func make(_ kind: ItemKind, _ name: FileName, in folder: PresentedItem) -> PresentedCall {
        switch kind {
        case .file: .makeFile(name, in: folder)
        case .folder: .makeFolder(name, in: folder)
        case .symlink: .makeSymlink(name, in: folder)
        }
    }
}

/// Identifies a presented change, so that a later one at the same place is not mistaken for it.
package struct PresentationTicket: Sendable, Hashable {
    fileprivate var number: UInt64
}

/// The changes that the daemon's own requests will make, by the place in the request.
struct Presentations {
    private struct Waiting {
        var ticket: PresentationTicket
        var carryOut: (Tree) -> Result<Entry?, ReplicaError>
    }

    private var waiting: [ItemPlace: Waiting] = [:]
    private var added: UInt64 = 0
    /// Names that changed without the kernel's knowledge, and how many invalidations of each it has not carried out yet.
    ///
    /// A rename of such a name moves what the kernel still has there: it shows that item under the new name permanently.
    private var unreported: [ItemPlace: Int] = [:]

    /// Files whose newer content the kernel is being told about, by inode number: it may still cut reads at the former size.
    private var contents: [ItemNumber: Int] = [:]

    mutating func beginContent(of number: ItemNumber) { contents[number, default: 0] += 1 }

    mutating func endContent(of number: ItemNumber) {
        let left = contents[number, default: 1] - 1
        contents[number] = left > 0 ? left : nil
    }

    func isTellingContent(of number: ItemNumber) -> Bool { contents[number] != nil }

    /// Names of which the kernel has not carried out all invalidations.
    var unreportedPlaces: Set<ItemPlace> { Set(unreported.keys) }

    mutating func addUnreported(_ places: [ItemPlace]) {
        for place in places { unreported[place, default: 0] += 1 }
    }

    mutating func removeUnreported(_ places: [ItemPlace]) {
        for place in places {
            let left = unreported[place, default: 1] - 1
            unreported[place] = left > 0 ? left : nil
        }
    }

    /// Notes that the kernel renames between these places: if one of them is unreported, both are from then on.
    /// - Returns: Whether they are.
    mutating func spreadUnreported(_ places: [ItemPlace]) -> Bool {
        guard places.contains(where: { unreported[$0] != nil }) else { return false }
        addUnreported(places)
        return true
    }

    /// Nil if another change waits there.
    mutating func add(_ key: ItemPlace, _ carryOut: @escaping (Tree) -> Result<Entry?, ReplicaError>)
        -> PresentationTicket?
    {
        guard waiting[key] == nil else { return nil }
        added += 1
        let ticket = PresentationTicket(number: added)
        waiting[key] = Waiting(ticket: ticket, carryOut: carryOut)
        return ticket
    }

    /// Nil for an abandoned call: the change that waits there now belongs to a later one.
    mutating func take(_ ticket: PresentationTicket, _ key: ItemPlace) -> ((Tree) -> Result<Entry?, ReplicaError>)? {
        guard waiting[key]?.ticket == ticket else { return nil }
        return waiting.removeValue(forKey: key)?.carryOut
    }

    /// Withdraws a change whose request did not come.
    /// - Returns: False if a request came. Another change may wait at the place by then; it stays.
    mutating func withdraw(_ ticket: PresentationTicket, _ key: ItemPlace) -> Bool {
        guard waiting[key]?.ticket == ticket else { return false }
        waiting[key] = nil
        return true
    }
}

extension Tree {
    /// A node in the form needed for calls through the mount.
    func presented(_ node: Node) -> PresentedItem { PresentedItem(path: path(of: node), number: node.inodeNumber) }

    /// What the kernel gets as the answer to its request for a call, with one more reference to a created item.
    fileprivate func answer(_ call: PresentedCall, _ node: Node?) throws(ReplicaError) -> Entry? {
        guard let node else { return nil }
        switch call {
        case .makeFile, .makeFolder, .makeSymlink: return try refer(to: node)
        case .touchContent, .touchStatus: return try entry(of: node)
        case .rename, .remove: return nil
        }
    }
}

extension Replica {
    /// Carries out the remote change that belongs to the daemon's own request on this name.
    ///
    /// The filesystem calls it for each changing request that comes from its own process, and answers the kernel with
    /// what this returns.
    /// - Parameter ticket: The ticket of the call that caused the request.
    /// - Returns: The resulting entry, which counts as one reference of the kernel if it was created; nil for a removal or
    ///   a rename.
    /// - Throws: ENOENT if no change is waiting there, and the errors of the change.
    package func performPresented(
        _ ticket: PresentationTicket, _ name: FileName, in folder: ItemNumber
    ) throws(ReplicaError) -> Entry? {
        let key = ItemPlace(folder: folder, name: name)
        return try withTreeWaking { (tree) throws(ReplicaError) in
            guard let carryOut = tree.presentations.take(ticket, key) else { throw .errno(.noSuchFileOrDirectory) }
            return try carryOut(tree).get()
        }
    }

    /// The same for a request that names an item itself, such as setattr.
    package func performPresented(
        _ ticket: PresentationTicket, on number: ItemNumber
    ) throws(ReplicaError) -> Entry? {
        try performPresented(ticket, FileName(""), in: number)
    }

    /// Names that changed, and that the mount may still show as they were.
    var unreportedPlaces: Set<ItemPlace> { withTree { $0.presentations.unreportedPlaces } }

    /// Tells the replica where it is mounted; nil when it no longer is.
    package func setPresenter(_ presenter: (any Presenter)?) {
        self.presenter.withLock { $0 = presenter }
    }

    /// Carries out `change` through `call`, so that watchers see it; if that is impossible, makes it directly and
    /// invalidates the kernel's caches of the changed places. Must not be called under the lock.
    /// - Parameter isSeen: Whether the kernel knew the folder: a folder that it does not know has no watchers.
    func present(
        _ call: PresentedCall, isSeen: Bool, _ change: @escaping (Tree) throws(ReplicaError) -> Node?
    ) throws(ReplicaError) {
        let presenter = self.presenter.withLock { $0 }
        if let presenter, isSeen, try isMade(call, by: presenter, change) { return }
        // Whether the kernel has listed the folder is determined together with the change: a program may have opened it
        // just before.
        let (made, stale) = try withTreeWaking { (tree) throws(ReplicaError) in
            // One that fails may be made in part.
            let made = Result { () throws(ReplicaError) in
                _ = try tree.asOwner(of: tree.folders(of: call)) { () throws(ReplicaError) in try change(tree) }
            }
            let stale = call.places.filter { (tree.items[inode: $0.folder]?.lookups ?? 0) > 0 }
            if presenter != nil { tree.presentations.addUnreported(stale) }
            return (made, stale)
        }
        if let presenter, !stale.isEmpty { tell(presenter, of: stale) }
        try made.get()
    }

    /// Invalidates places in the kernel. They were noted as unreported together with the change.
    func tell(_ presenter: any Presenter, of places: [ItemPlace]) {
        for place in places {
            if place.name.bytes.isEmpty {
                presenter.invalidate(place.folder)
            } else {
                presenter.invalidate(place.name, in: place.folder)
            }
        }
        presenter.afterInvalidations { [self] in withTree { $0.presentations.removeUnreported(places) } }
    }

    /// Makes `change` when the request that `call` causes arrives.
    /// - Returns: False if no request came: the change still has to be made.
    private func isMade(
        _ call: PresentedCall, by presenter: any Presenter, _ change: @escaping (Tree) throws(ReplicaError) -> Node?
    ) throws(ReplicaError) -> Bool {
        let key = call.places[0]
        let outcome = Locked<(error: ReplicaError?, isStale: Bool)>((nil, false))
        let carryOut: (Tree) -> Result<Entry?, ReplicaError> = { tree in
            let made = Result { () throws(ReplicaError) in try change(tree) }
            let answer = made.flatMap { node in Result { () throws(ReplicaError) in try tree.answer(call, node) } }
            var isStale = tree.presentations.spreadUnreported(call.places)
            if case .failure = answer, !isStale {
                // To the kernel the call has failed, and it keeps what it had there; the change may be made, or a part of it.
                tree.presentations.addUnreported(call.places)
                isStale = true
            }
            outcome.withLock {
                $0.isStale = isStale
                if case .failure(let error) = made { $0.error = error }
            }
            return answer
        }
        guard let ticket = withTree({ $0.presentations.add(key, carryOut) }) else { return false }
        _ = presenter.present(call, ticket)
        // Under the lock: an abandoned call may be making the change right now.
        if withTree({ $0.presentations.withdraw(ticket, key) }) { return false }
        let (error, isStale) = outcome.withLock { $0 }
        if isStale { tell(presenter, of: call.places) }
        if let error { throw error }
        return true
    }
}
