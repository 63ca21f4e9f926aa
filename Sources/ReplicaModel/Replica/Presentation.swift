internal import SystemPackage

/// Carries a remote change out through the mount, so that the kernel's caches and inotify's watchers learn of it
/// (design.md §6): the daemon makes the system call at the mount, and recognises its own request.
public protocol Presenter: Sendable {
    /// Makes the system call. False when it could not be made; the change is then applied below the kernel's sight.
    func present(_ call: PresentedCall) -> Bool
    /// Tells the kernel to forget what it knows of a name.
    func invalidate(_ name: FileName, in folder: ItemNumber)
    /// Tells the kernel to forget what it knows of an item's status and content.
    func invalidate(_ number: ItemNumber)
}

/// A system call by which a remote change shows. Paths are relative to the mount's root.
public enum PresentedCall: Sendable, Hashable {
    case makeFile([FileName])
    case makeFolder([FileName])
    case makeSymlink([FileName])
    case rename([FileName], [FileName])
    case remove([FileName], isFolder: Bool)
    /// The content changed.
    case touchContent([FileName], size: Int64)
    /// Only the status changed.
    case touchStatus([FileName])
}

/// What the daemon's own requests stand for, by the place they name.
struct Presentations {
    struct Key: Hashable {
        var folder: ItemNumber
        var name: FileName
    }
    var waiting: [Key: (Tree) -> Result<Node?, Obstacle>] = [:]
}

extension Replica {
    /// Carries out the remote change that the daemon's own request on this name stands for.
    ///
    /// The filesystem calls it for each changing request that comes from its own process, and answers the kernel with
    /// what this returns.
    /// - Returns: The entry that came of it, with one reference of the kernel, or nil when there is none.
    /// - Throws: ENOENT when no change is waiting there.
    public func performPresented(_ name: FileName, in folder: ItemNumber) throws(Obstacle) -> Entry? {
        let key = Presentations.Key(folder: folder, name: name)
        guard let change = presentations.withLock({ $0.waiting.removeValue(forKey: key) }) else {
            throw .errno(.noSuchFileOrDirectory)
        }
        return try locked { (tree) throws(Obstacle) in
            guard let node = try change(tree).get() else { return nil }
            return try tree.entry(of: node)
        }
    }

    /// The same for an item itself: setattr names no folder.
    public func performPresented(on number: ItemNumber) throws(Obstacle) -> Entry? {
        try performPresented(FileName(""), in: number)
    }

    /// Tells the replica where it is mounted; nil when it no longer is.
    public func setPresenter(_ presenter: (any Presenter)?) {
        self.presenter.withLock { $0 = presenter }
    }

    /// Carries out `change` by way of `call`, so that watchers see it; else directly. Not under the lock.
    /// - Parameter isSeen: Whether the kernel knows the folder: nobody watches one that it does not.
    func present(
        _ call: PresentedCall, _ key: Presentations.Key, isSeen: Bool,
        _ change: @escaping (Tree) throws(Obstacle) -> Node?
    ) throws(Obstacle) {
        let presenter = self.presenter.withLock { $0 }
        guard let presenter, isSeen else {
            _ = try locked(change)
            return
        }
        let outcome = Locked<Obstacle?>(nil)
        let carryOut: (Tree) -> Result<Node?, Obstacle> = { tree in
            let result = Result { () throws(Obstacle) in try change(tree) }
            if case .failure(let obstacle) = result { outcome.withLock { $0 = obstacle } }
            return result
        }
        presentations.withLock { $0.waiting[key] = carryOut }
        _ = presenter.present(call)
        let wasCarriedOut = presentations.withLock { $0.waiting.removeValue(forKey: key) } == nil
        if let obstacle = outcome.withLock({ $0 }) { throw obstacle }
        guard !wasCarriedOut else { return }
        _ = try locked(change)
        presenter.invalidate(key.name, in: key.folder)
    }
}
