import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

extension DirectoryTree {
    /// The most changes of one batch.
    static let batchSize = 1_000

    /// - Note: Called after another directory was refused, it accepts that one.
    func currentAnchor() throws(RemoteStoreError) -> SyncAnchor {
        root.accept()
        try tellingOthers { () throws(RemoteStoreError) in
            try keepGeneration(try openRoot())
            try drain()
        }
        return signed(index.withLock { $0.log.anchor })
    }

    /// Whether the directory is the one that the anchor is of, and no older; no other is opened from now on.
    func recognize(_ anchor: SyncAnchor) throws(RemoteStoreError) {
        guard let signature = AnchorSignature(of: anchor) else { return }
        root.expect(signature.identity, signature.generation)
        do throws(RemoteStoreError) {
            _ = try tellingOthers { () throws(RemoteStoreError) in try openRoot() }
        } catch {
            root.refuse()
            throw error
        }
    }

    /// Says where another directory is in the place of the store's.
    private func tellingOthers<Result>(
        _ body: () throws(RemoteStoreError) -> Result
    ) throws(RemoteStoreError) -> Result {
        do throws(RemoteStoreError) {
            return try body()
        } catch {
            throw error == .serverUnreachable && root.isOther ? otherDirectory : error
        }
    }

    private var otherDirectory: RemoteStoreError {
        .cannotSynchronize(
            root.isOlder
                ? "\(root.path) is in an older state than before: restore the newer one, or accept it with `replica approve`"
                : "\(root.path) is a different directory than before: restore the old one, or accept it with `replica approve`"
        )
    }

    /// An anchor that names the directory too: an empty disk in the place of a full one is no deletion.
    private func signed(_ anchor: SyncAnchor) -> SyncAnchor {
        AnchorSignature(identity: root.identity, generation: root.generation).sign(anchor)
    }

    /// The anchor without its signature.
    /// - Throws: ``RemoteStoreError/cannotSynchronize(_:)`` when it is of another directory, or of a newer state.
    private func verified(_ anchor: SyncAnchor) throws(RemoteStoreError) -> SyncAnchor {
        guard let signature = AnchorSignature(of: anchor) else { throw .syncAnchorExpired }
        guard signature.identity == root.identity, signature.generation <= root.generation else { throw otherDirectory }
        return AnchorSignature.anchor(in: anchor)
    }

    /// Checks that the directory is in no older state than before, and has it count on if it is time.
    private func keepGeneration(_ top: Handle) throws(RemoteStoreError) {
        do throws(Errno) { try root.checkGeneration(of: top) } catch {
            throw error == .staleNFSFileHandle ? .serverUnreachable : failure(error, at: root.path)
        }
        let anchor = index.withLock { $0.log.anchor }
        if renewals.isDue(at: anchor) { root.renewGeneration(of: top) }
    }

    /// What happened after an anchor, if possible as it was at one moment: what was replaced is told with what replaced it,
    /// so that both are known for one item. Whoever has this is in step with what happened before: what just left its place
    /// is waited for.
    func changes(from anchor: SyncAnchor) throws(RemoteStoreError) -> ChangeBatch {
        try tellingOthers { () throws(RemoteStoreError) in try lookUntilSteady(after: anchor) }
    }

    private func lookUntilSteady(after anchor: SyncAnchor) throws(RemoteStoreError) -> ChangeBatch {
        var looks = 0
        while true {
            try drain()
            if awaitOrphans() { try drain() }
            looks += 1
            if let batch = try look(after: anchor, isLast: looks == Self.mostLooks) { return batch }
        }
    }

    /// How often changes are looked at anew because something changed meanwhile.
    private static let mostLooks = 10

    /// - Parameter isLast: Whether items that are no longer at their places, or between two of them, are left to the next batch.
    /// - Returns: Nil when there are such: events about them are on their way. What took the place of one would be told
    ///   before it is known that it is gone.
    private func look(after signedAnchor: SyncAnchor, isLast: Bool) throws(RemoteStoreError) -> ChangeBatch? {
        let top = try openRoot()
        try keepGeneration(top)
        let anchor = try verified(signedAnchor)
        if watches.cannotWatchAll { throw .syncAnchorExpired }
        guard let (changes, known) = try known(after: anchor, isLast: isLast) else { return nil }
        var batch = ChangeBatch(
            updated: [], deleted: [], anchor: signed(changes.anchor), moreComing: changes.moreComing)
        for (key, known) in zip(changes.keys, known) {
            guard let place = known.place else {
                batch.deleted.append(key.identifier)
                continue
            }
            // What is between two places is told when it has arrived, or is gone.
            guard !known.isOrphan else { continue }
            let found = try known.names.flatMap { (names) throws(RemoteStoreError) in
                try describe(place, names, from: top)
            }
            // What replaced it by now is told in its stead the last time: else a deletion that is told would leave the name
            // without a file.
            if let found, found.identifier == key.identifier || isLast && takeIn(found, at: place, from: top) {
                batch.updated.append(found)
                if known.isWritten, found.identifier == key.identifier { batch.rewritten.insert(key.identifier) }
                continue
            }
            if index.withLock({ $0.lose(key) }) { watches.wake() }
            if !isLast { return nil }
            // A folder above it moved just now, and only that will be told: the item is news still.
            index.withLock { $0.log.add(key) }
        }
        return batch
    }

    /// What an item is known as.
    private struct Known {
        var place: Place?
        var names: [FileName]?
        var isOrphan: Bool
        var isWritten: Bool
    }

    /// The items that changed, and where they are. Not while events are taken in: what replaced an item would be told
    /// before the end of that.
    /// - Returns: Nil while any item is between two places, unless `isLast`.
    private func known(
        after anchor: SyncAnchor, isLast: Bool
    ) throws(RemoteStoreError) -> (ChangeLog.Changes, [Known])? {
        try draining.withLock { _ throws(RemoteStoreError) in
            try index.withLock { index throws(RemoteStoreError) in
                if !isLast, index.orphans.values.contains(where: \.mayBeElsewhere) { return nil }
                let changes = try index.log.changes(after: anchor, limit: Self.batchSize)
                let known = changes.keys.map { key in
                    Known(
                        place: index.knownPlace(of: key), names: index.names(of: key),
                        isOrphan: index.orphans[key] != nil,
                        isWritten: index.writes.has(key, after: changes.start))
                }
                return (changes, known)
            }
        }
    }

    /// What stands at a place now; nil when nothing does.
    private func describe(
        _ place: Place, _ names: [FileName], from top: Handle
    ) throws(RemoteStoreError) -> Item? {
        do {
            let folder = try walk(names.dropLast(), from: top)
            let status = try status(at: place, in: folder)
            guard status.kind != nil else { return nil }
            return try describe(place, status, in: folder)
        } catch  where error.provesAbsence {
            return nil
        } catch {
            throw failure(error, at: path(names))
        }
    }

    func open(_ key: ItemKey, _ index: FolderIndex, from top: Handle) throws(Errno) -> Handle {
        if key == .root { return top }
        guard let names = index.names(of: key) else { throw .noSuchFileOrDirectory }
        return try open(key, at: names, from: top)
    }
}
