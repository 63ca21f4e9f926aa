internal import SystemPackage
internal import Threads

extension Tree {
    /// A node in the form needed for calls through the mount.
    func presented(_ node: Node) -> PresentedItem { PresentedItem(path: path(of: node), number: node.inodeNumber) }

    /// What the kernel gets as the answer to its request for a call, with one more reference to a created item.
    fileprivate func answer(_ call: PresentedCall, _ node: Node?) throws(ReplicaError) -> KernelEntry? {
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
    ) throws(ReplicaError) -> KernelEntry? {
        let key = ItemPlace(folder: folder, name: name)
        return try withTreeWaking { (tree) throws(ReplicaError) in
            guard let carryOut = tree.presentations.take(ticket, key) else { throw .errno(.noSuchFileOrDirectory) }
            return try carryOut(tree).get()
        }
    }

    /// The same for a request that names an item itself, such as setattr.
    package func performPresented(
        _ ticket: PresentationTicket, on number: ItemNumber
    ) throws(ReplicaError) -> KernelEntry? {
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
        let carryOut: (Tree) -> Result<KernelEntry?, ReplicaError> = { tree in
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
