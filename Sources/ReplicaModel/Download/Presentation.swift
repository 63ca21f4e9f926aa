internal import SystemPackage
internal import Threads

/// Makes a remote change through the mount, so that the kernel's caches and inotify's watchers learn of it
/// (MODEL.md#presentation): the daemon makes the system call at the mount, and recognises its own request.
package protocol Presenter: Sendable {
    /// Makes the system call. False when it could not be made; the change is then applied below the kernel's sight.
    /// - Parameter ticket: The change that the call is for: its request hands it to ``Replica/performPresented(_:_:in:)``.
    func present(_ call: PresentedCall, _ ticket: PresentationTicket) -> Bool
    /// Invalidates a name and its folder's listing in the kernel.
    func invalidate(_ name: FileName, in folder: ItemNumber)
    /// Invalidates an item's attributes and content in the kernel.
    func invalidate(_ number: ItemNumber)
}

/// An item, and the way to it from the mount's root.
///
/// The way was right when it was asked for. Whoever may rename there can have put something else at its end, or a symlink
/// on it, by the time that it is walked: only what has the number is the item.
package struct PresentedItem: Sendable, Hashable {
    /// The names from the root on; none for the root itself.
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

    /// The names that it changes; the one that its request names comes first. Of a call on an item itself: its number, with an
    /// empty name.
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

/// The changes that the daemon's own requests will make, by the place that they name.
struct Presentations {
    private struct Waiting {
        var ticket: PresentationTicket
        var change: (Tree) -> Result<Node?, ReplicaError>
    }

    private var waiting: [ItemPlace: Waiting] = [:]
    private var added: UInt64 = 0

    /// Nil if another change waits there.
    mutating func add(_ key: ItemPlace, _ change: @escaping (Tree) -> Result<Node?, ReplicaError>)
        -> PresentationTicket?
    {
        guard waiting[key] == nil else { return nil }
        added += 1
        let ticket = PresentationTicket(number: added)
        waiting[key] = Waiting(ticket: ticket, change: change)
        return ticket
    }

    /// Nil for an abandoned call: the change that waits there now is not its own.
    mutating func take(_ ticket: PresentationTicket, _ key: ItemPlace) -> ((Tree) -> Result<Node?, ReplicaError>)? {
        guard waiting[key]?.ticket == ticket else { return nil }
        return waiting.removeValue(forKey: key)?.change
    }

    /// Withdraws a change for which no request came.
    /// - Returns: False if a request came. Another change may wait at the place by then; it stays.
    mutating func withdraw(_ ticket: PresentationTicket, _ key: ItemPlace) -> Bool {
        guard waiting[key]?.ticket == ticket else { return false }
        waiting[key] = nil
        return true
    }
}

extension Tree {
    /// A node as calls through the mount find it.
    func presented(_ node: Node) -> PresentedItem { PresentedItem(path: path(of: node), number: node.inodeNumber) }
}

extension Replica {
    /// Carries out the remote change that the daemon's own request on this name stands for.
    ///
    /// The filesystem calls it for each changing request that comes from its own process, and answers the kernel with
    /// what this returns.
    /// - Parameter ticket: That of the call that led to the request.
    /// - Returns: The entry that came of it, with one reference of the kernel, or nil when there is none.
    /// - Throws: ENOENT when its change is not waiting there.
    package func performPresented(
        _ ticket: PresentationTicket, _ name: FileName, in folder: ItemNumber
    ) throws(ReplicaError) -> Entry? {
        let key = ItemPlace(folder: folder, name: name)
        return try withTreeWaking { (tree) throws(ReplicaError) in
            guard let change = tree.presentations.take(ticket, key) else { throw .errno(.noSuchFileOrDirectory) }
            guard let node = try change(tree).get() else { return nil }
            return try tree.entry(of: node)
        }
    }

    /// The same for a request that names an item itself, such as setattr.
    package func performPresented(
        _ ticket: PresentationTicket, on number: ItemNumber
    ) throws(ReplicaError) -> Entry? {
        try performPresented(ticket, FileName(""), in: number)
    }

    /// Tells the replica where it is mounted; nil when it no longer is.
    package func setPresenter(_ presenter: (any Presenter)?) {
        self.presenter.withLock { $0 = presenter }
    }

    /// Carries out `change` by way of `call`, so that watchers see it; else directly, and has the kernel forget what it has of
    /// the places that changed. Not under the lock.
    /// - Parameter isSeen: Whether the kernel knew the folder: nobody watches one that it does not.
    func present(
        _ call: PresentedCall, isSeen: Bool, _ change: @escaping (Tree) throws(ReplicaError) -> Node?
    ) throws(ReplicaError) {
        let presenter = self.presenter.withLock { $0 }
        if let presenter, isSeen, try isMade(call, by: presenter, change) { return }
        // What the kernel has listed by now is decided with the change: a program may have come upon the folder just before.
        let stale = try withTreeWaking { (tree) throws(ReplicaError) in
            _ = try change(tree)
            return call.places.filter { (tree.items[inode: $0.folder]?.lookups ?? 0) > 0 }
        }
        for place in stale {
            if place.name.bytes.isEmpty {
                presenter?.invalidate(place.folder)
            } else {
                presenter?.invalidate(place.name, in: place.folder)
            }
        }
    }

    /// Makes `change` when the request that `call` causes arrives.
    /// - Returns: False when no request came: the change is still to be made.
    private func isMade(
        _ call: PresentedCall, by presenter: any Presenter, _ change: @escaping (Tree) throws(ReplicaError) -> Node?
    ) throws(ReplicaError) -> Bool {
        let key = call.places[0]
        let outcome = Locked<ReplicaError?>(nil)
        let carryOut: (Tree) -> Result<Node?, ReplicaError> = { tree in
            let result = Result { () throws(ReplicaError) in try change(tree) }
            if case .failure(let error) = result { outcome.withLock { $0 = error } }
            return result
        }
        guard let ticket = withTree({ $0.presentations.add(key, carryOut) }) else { return false }
        _ = presenter.present(call, ticket)
        // Under the lock: a call that was given up may just now be at the change.
        if withTree({ $0.presentations.withdraw(ticket, key) }) { return false }
        if let error = outcome.withLock({ $0 }) { throw error }
        return true
    }
}
