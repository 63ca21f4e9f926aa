import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

extension DirectoryTree {
    /// The most changes of one batch.
    static let batchSize = 1_000

    func currentAnchor() throws(RemoteStoreError) -> SyncAnchor {
        try drain()
        return signed(index.withLock { $0.log.anchor })
    }

    /// An anchor that names the directory too: an empty disk in the place of a full one is no deletion.
    private func signed(_ anchor: SyncAnchor) -> SyncAnchor {
        SyncAnchor(bytes: anchor.bytes + Array("@\(identity)".utf8))
    }

    /// The anchor without its signature.
    /// - Throws: ``RemoteStoreError/cannotSynchronize(_:)`` when it is of another directory.
    private func verified(_ anchor: SyncAnchor) throws(RemoteStoreError) -> SyncAnchor {
        let parts = anchor.bytes.split(separator: UInt8(ascii: "@"), maxSplits: 1)
        guard parts.count == 2 else { throw .syncAnchorExpired }
        guard Array(parts[1]) == Array(identity.utf8) else {
            throw .cannotSynchronize(
                "\(root.path) is a different directory than before: restore the old one, or accept it with `replica approve`"
            )
        }
        return SyncAnchor(bytes: Array(parts[0]))
    }

    /// What happened after an anchor, if possible as it was at one moment: what was replaced is told with what replaced it,
    /// so that both are known for one item. Whoever has this is in step with what happened before: what just left its place
    /// is waited for.
    func changes(from anchor: SyncAnchor) throws(RemoteStoreError) -> ChangeBatch {
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

    /// Looks at a place as if an event had told of it.
    /// - Returns: Whether the item is known there then: nobody would tell the end of one that the index never had.
    private func takeIn(_ item: Item, at place: Place, from top: Handle) -> Bool {
        let others = settle([(place, .movedAway)], in: place.parent, from: top)
        return index.withLock { index in
            index.addUnsettled(Dictionary(others.map { ($0.key, $0.value) }) { $0.union($1) })
            return index.isAt(place, item.identifier)
        }
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

    /// Takes in all events there are. One thread at a time.
    /// - Throws: ``RemoteStoreError/serverUnreachable`` while the root is away.
    func drain() throws(RemoteStoreError) {
        try draining.withLock { count throws(RemoteStoreError) in
            count += 1
            let batch = watches.take()
            let top = try openRoot()
            if batch.hasGap { index.withLock { $0.expire() } }
            var places = index.withLock { $0.takeUnsettled() }
            for event in batch.events { places[event.place, default: []].formUnion(event.cause) }
            settle(places, from: top)
            try settleOrphans(from: top)
        }
    }

    /// Settles places; those whose folder is not where it was thought are tried again after the others, which may
    /// tell where it is now.
    func settle(_ places: [Place: ChangeCause], from top: Handle) {
        var left = places
        for _ in 0..<3 where !left.isEmpty {
            var failed: [Place: ChangeCause] = [:]
            for (parent, group) in Dictionary(grouping: left, by: \.key.parent) {
                for (place, cause) in settle(group, in: parent, from: top) {
                    failed[place, default: []].formUnion(cause)
                }
            }
            left = failed
        }
        index.withLock { $0.addUnsettled(left) }
    }

    /// - Returns: The places of a folder that could not be found, and those that changed with what is settled.
    private func settle(
        _ places: [(key: Place, value: ChangeCause)], in parent: ItemKey, from top: Handle
    ) -> [(key: Place, value: ChangeCause)] {
        index.withLock { index in
            guard index.isListed(parent) else { return [] }
            do throws(Errno) {
                let folder = try open(parent, index, from: top)
                let names = try namesThatCount(in: folder)
                var others: Set<Place> = []
                for (place, cause) in places {
                    let status = names?.contains(place.name) == false ? nil : try present(place, in: folder)
                    others.formUnion(
                        index.settle(
                            place, status.map { settleClaim($0, at: place, in: folder, &index, from: top) }, cause))
                }
                return others.map { ($0, []) }
            } catch {
                if error.provesAbsence { _ = index.lose(parent) }
                return places
            }
        }
    }

    /// The names in a folder where another one finds the same entry; else nil.
    private func namesThatCount(in folder: Handle) throws(Errno) -> Set<FileName>? {
        guard !abilities.isCaseSensitive else { return nil }
        return Set(try Linux.entries(of: folder).map(\.name))
    }

    func open(_ key: ItemKey, _ index: FolderIndex, from top: Handle) throws(Errno) -> Handle {
        if key == .root { return top }
        guard let names = index.names(of: key) else { throw .noSuchFileOrDirectory }
        return try open(key, at: names, from: top)
    }

    /// What of the store's concern stands at a place.
    private func present(_ place: Place, in folder: Handle) throws(Errno) -> FileStatus? {
        do {
            let status = try status(at: place, in: folder)
            return status.kind == nil || isForeign(status) ? nil : status
        } catch  where error.provesAbsence {
            return nil
        }
    }
}
