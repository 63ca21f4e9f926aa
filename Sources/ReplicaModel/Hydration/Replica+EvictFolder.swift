internal import Glibc
internal import SystemPackage
internal import Threads

/// An entry of a folder.
struct ListedChild {
    var number: ItemNumber
    var name: FileName
    var kind: ItemKind
    /// The number of bytes of its content that are not local.
    var missing: Int64
    /// Whether it is excluded from its folder's pin.
    var isUnpinned: Bool
}

extension Replica {
    /// The entries of a listed folder, ordered by name; nil if it is not listed.
    func listedChildren(of number: ItemNumber) throws(ReplicaError) -> [ListedChild]? {
        try withTreeWaking { (tree) throws(ReplicaError) in
            guard let folder = try tree.find(number), folder.kind == .folder, folder.materialization == .whole else {
                return nil
            }
            return try tree.children(of: folder).values.sorted { $0.name < $1.name }.map {
                ListedChild(
                    number: $0.number, name: $0.name, kind: $0.kind, missing: $0.missingBytes,
                    isUnpinned: $0.pin == .unpinned)
            }
        }
    }

    /// Makes a folder dataless if all of its entries are dataless and in sync: the next access lists it in the store
    /// again (MODEL.md#eviction). Does nothing while one of its entries is in use.
    /// - Returns: Whether the listing was dropped.
    func dropListing(of number: ItemNumber) throws -> Bool {
        let marked = try withTreeWaking { (tree) throws(ReplicaError) -> (UInt32, [ItemIdentifier: ItemNumber])? in
            guard let folder = try tree.find(number), try tree.canForget(folder) else { return nil }
            folder.materialization = .dataless
            folder.evictions += 1
            tree.note(folder)
            tree.items.numbers.hasFormer = true
            return (folder.evictions, tree.numbers(in: folder))
        }
        guard let (mark, numbers) = marked else { return false }
        // Recorded before anything is removed: after a crash it must not look as if the user had deleted the entries.
        do {
            try record { try FormerInodeNumbers.write(numbers, to: $0) }
        } catch {
            withTree { tree in
                guard let folder = tree.items[number], folder.evictions == mark else { return }
                folder.materialization = .whole
                tree.note(folder)
            }
            throw error
        }
        try withTreeWaking { (tree) throws(ReplicaError) in
            // A listing that began in the meantime has already cleared the folder.
            guard let folder = try tree.find(number), folder.materialization == .dataless, folder.evictions == mark
            else { return }
            try tree.clearLeftovers(in: folder)
            tree.refreshFingerprint(folder)
            tree.note(folder)
        }
        presenter.withLock { $0 }?.invalidate(number)
        post(.evicted, number)
        return true
    }

    /// Asks the kernel to forget those entries of a folder that it does not use.
    func releaseEntries(of number: ItemNumber) {
        guard let presenter = presenter.withLock({ $0 }) else { return }
        let names = withTree { tree in
            (tree.items[number]?.children ?? [:]).values.filter { $0.lookups > 0 }.map(\.name)
        }
        for name in names { presenter.invalidate(name, in: number) }
    }

    /// Whether the kernel knows any entry of the folder.
    func hasKnownEntries(_ number: ItemNumber) -> Bool {
        withTree { tree in (tree.items[number]?.children ?? [:]).values.contains { $0.lookups > 0 } }
    }
}

extension Tree {
    fileprivate func numbers(in folder: Node) -> [ItemIdentifier: ItemNumber] {
        (folder.children ?? [:]).values.reduce(into: [:]) { numbers, node in
            if let base = node.base { numbers[base.identifier] = node.number }
        }
    }

    /// Whether the store can return everything that is known about the folder's entries.
    fileprivate func canForget(_ folder: Node) throws(ReplicaError) -> Bool {
        guard folder !== root, folder.kind == .folder, folder.materialization == .whole, scan == nil else {
            return false
        }
        guard !folder.isNew, !folder.isPending, !folder.flags.contains(.needsListing), !isPinned(folder),
            !pending.hasDeparted(from: folder.number)
        else { return false }
        let kept: NodeFlags = [.special, .excluded, .refused, .conflict, .createSent]
        return try children(of: folder).values.allSatisfy { node in
            let isIdle = node.lookups == 0 && node.opens == 0 && node.writers == 0 && !node.isInFlight
            let isInStep = !node.isNew && node.dirty.isEmpty && node.failure == nil && node.flags.isDisjoint(with: kept)
            let isEmpty = node.kind == .symlink || node.materialization == .dataless || node.base?.size == 0
            return isIdle && isInStep && isEmpty && (node.kind != .folder || node.materialization == .dataless)
                && node.pin == .inherited && node.inodeNumber == node.number
                && !items.isLinked(node)
        }
    }
}
