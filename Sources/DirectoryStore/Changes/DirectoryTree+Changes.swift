import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

extension DirectoryTree {
    /// The maximum number of changes per batch.
    static let batchSize = 1_000

    /// - Note: After another directory was refused, this call accepts it.
    func currentAnchor() throws(RemoteStoreError) -> SyncAnchor {
        root.accept()
        try tellingOthers { () throws(RemoteStoreError) in
            try keepGeneration(try openRoot())
            try drain()
        }
        return signed(index.withLock { $0.log.anchor })
    }

    /// Checks that the directory is the anchor's, and in no older state. From now on, no other directory is opened.
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

    /// Reports another directory in the store's place.
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

    /// An anchor that also identifies the directory, so that an empty disk mounted in its place doesn't count as a
    /// deletion.
    private func signed(_ anchor: SyncAnchor) -> SyncAnchor {
        AnchorSignature(identity: root.identity, generation: root.generation).sign(anchor)
    }

    /// The anchor without its signature.
    /// - Throws: ``RemoteStoreError/cannotSynchronize(_:)`` if it belongs to another directory, or to a newer state.
    private func verified(_ anchor: SyncAnchor) throws(RemoteStoreError) -> SyncAnchor {
        guard let signature = AnchorSignature(of: anchor) else { throw .syncAnchorExpired }
        guard signature.identity == root.identity, signature.generation <= root.generation else { throw otherDirectory }
        return AnchorSignature.anchor(in: anchor)
    }

    /// Checks that the directory is in no older state than before, and increments its generation if that is due.
    private func keepGeneration(_ top: OpenDescriptor) throws(RemoteStoreError) {
        do throws(Errno) { try root.checkGeneration(of: top) } catch {
            throw error == .staleNFSFileHandle ? .serverUnreachable : failure(error, at: root.path)
        }
        let anchor = index.withLock { $0.log.anchor }
        if renewals.isDue(at: anchor) { root.renewGeneration(of: top) }
    }

    /// The changes since an anchor, if possible as a consistent snapshot: a replaced item is reported together with its
    /// replacement. Waits for items that have just left their places, so that the result covers everything that
    /// happened before the call.
    func changes(from anchor: SyncAnchor) throws(RemoteStoreError) -> ChangeBatch {
        try tellingOthers { () throws(RemoteStoreError) in try changesOnceSteady(after: anchor) }
    }

    private func changesOnceSteady(after anchor: SyncAnchor) throws(RemoteStoreError) -> ChangeBatch {
        let end = ContinuousClock.now + Self.steadyWithin
        try drain()
        // What happened before the call is processed.
        let begin = ContinuousClock.now
        while true {
            if awaitOrphans() { try drain() }
            let isLast = ContinuousClock.now > end
            if let batch = try steadyChanges(after: anchor, since: begin, isLast: isLast) { return batch }
            usleep(Self.pauseBetweenTriesMicroseconds)
            try drain()
        }
    }

    /// In microseconds.
    private static let pauseBetweenTriesMicroseconds: UInt32 = 5_000

    /// How long the changes are collected again because something changed in the meantime, or could not be determined
    /// yet.
    private static let steadyWithin = Duration.seconds(2)

    /// - Parameters:
    ///   - begin: When the events of what happened before the request were processed.
    ///   - isLast: Whether items that left their places, or are between two places, are left to the next batch.
    /// - Returns: Nil if items are between two places: their events are on the way, and a replacement would be reported
    ///   before the replaced item is known to be gone.
    private func steadyChanges(
        after signedAnchor: SyncAnchor, since begin: ContinuousClock.Instant, isLast: Bool
    ) throws(RemoteStoreError) -> ChangeBatch? {
        let top = try openRoot()
        try keepGeneration(top)
        let anchor = try verified(signedAnchor)
        if watches.cannotWatchAll { throw .syncAnchorExpired }
        let state = try known(after: anchor, since: begin, isLast: isLast)
        guard let (changes, known, isUnsteady) = state else { return nil }
        var batch = ChangeBatch(
            updated: [], deleted: [], anchor: signed(changes.anchor), moreComing: changes.moreComing)
        batch.isIncomplete = isUnsteady
        for (key, known) in zip(changes.keys, known) {
            guard let place = known.place else {
                batch.deleted.append(key.identifier)
                continue
            }
            // An item between two places is reported when it has arrived or is gone.
            guard !known.isOrphan else {
                batch.isIncomplete = true
                continue
            }
            let found = try known.names.flatMap { (names) throws(RemoteStoreError) in
                try describe(place, names, from: top)
            }
            // In the last round, report the current occupant instead; otherwise a reported deletion would leave the
            // name without a file.
            if let found, found.identifier == key.identifier || isLast && takeIn(found, at: place, from: top) {
                batch.updated.append(found)
                if known.isWritten, found.identifier == key.identifier { batch.rewritten.insert(key.identifier) }
                continue
            }
            let isLost = index.withLock { $0.lose(key) }
            if isLost { watches.wake() }
            if !isLast { return nil }
            // A folder above it has just moved, and only that move will be reported: the item stays in the log.
            index.withLock { $0.log.add(key) }
            if isLost { batch.isIncomplete = true }
        }
        return batch
    }

    /// The known state of an item.
    private struct Known {
        var place: EntryPlace?
        var names: [FileName]?
        var isOrphan: Bool
        var isWritten: Bool
    }

    /// The changed items and their places. Not called while events are being processed, because an item's replacement
    /// would be reported too early.
    /// - Returns: Nil while any item is between two places, or any event is unsettled, unless `isLast`.
    private func known(
        after anchor: SyncAnchor, since begin: ContinuousClock.Instant, isLast: Bool
    ) throws(RemoteStoreError) -> (ChangeLog.Changes, [Known], isUnsteady: Bool)? {
        try draining.withLock { _ throws(RemoteStoreError) in
            try index.withLock { index throws(RemoteStoreError) in
                if !isLast, index.isUnsteady { return nil }
                let changes = try index.log.changes(after: anchor, limit: Self.batchSize)
                let known = changes.keys.map { key in
                    Known(
                        place: index.knownPlace(of: key), names: index.names(of: key),
                        isOrphan: index.orphans[key] != nil,
                        isWritten: index.writes.has(key, after: changes.start))
                }
                return (changes, known, index.isUnsteady(since: begin))
            }
        }
    }

    /// The current item at a place; nil if there is none.
    private func describe(
        _ place: EntryPlace, _ names: [FileName], from top: OpenDescriptor
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

    func open(_ key: ItemKey, _ index: FolderIndex, from top: OpenDescriptor) throws(Errno) -> OpenDescriptor {
        if key == .root { return top }
        guard let names = index.names(of: key) else { throw .noSuchFileOrDirectory }
        return try open(key, at: names, from: top)
    }
}
