import Glibc
import ReplicaModel
import Threads

/// Items that left their places and were not seen at another one yet. That is no proof that an item is gone: the folder
/// that it moved to may have moved as well.
extension DirectoryTree {
    /// Sleeps until every item that left its place can be settled: found at a new place, or gone.
    /// - Returns: False if there is nothing to wait for.
    func awaitOrphans() -> Bool {
        let due = index.withLock { index in index.orphans.values.lazy.filter(\.mayBeElsewhere).map(\.due).max() }
        guard let due else { return false }
        let left = max(due - ContinuousClock.now, Self.shortestWait) / .microseconds(1)
        usleep(UInt32(left.rounded(.up)))
        return true
    }

    /// The shortest pause before unsettled orphans are retried.
    private static let shortestWait = Duration.milliseconds(5)
    /// How long the proof that an item is gone may fail, because others keep moving folders or a folder can't be read,
    /// before a search of the whole tree replaces it.
    private static let proofTimeout = Duration.seconds(5)

    /// Settles items that left their places a while ago: finds their new places, or determines that they are gone.
    func settleOrphans(from top: OpenDescriptor) throws(RemoteStoreError) {
        // One in a folder that is just being listed may still be there: no search reads listed folders.
        let unread = index.withLock { index in dueOrphans(in: index).keys.compactMap(index.unreadPlace) }
        if !unread.isEmpty { settle(Dictionary(unread.map { ($0, []) }) { cause, _ in cause }, from: top) }
        let due = index.withLock { dueOrphans(in: $0) }
        if due.isEmpty { return }
        let lost = due.filter(\.value.mayBeElsewhere)
        let seen = try lost.isEmpty ? Sightings() : search(for: lost.values)
        let isOverdue = seen.visits[.root] != nil
        // An item that moved to a listed folder in the meantime is there, and its event is in the queue.
        if !lost.isEmpty { settle(takeEvents(), from: top) }
        let gone = index.withLock { index -> [ItemKey] in
            let others = seen.places.filter { due[$0.key] == nil }
            index.addHints(others)
            index.adoptUnsettled(others)
            var isProof = isOverdue
            if !isOverdue, seen.isSteady {
                // Items that were not found are gone if all folders without events were read.
                let unread = index.unread(Set(seen.visits.keys), outside: lost)
                isProof = unread.isEmpty && !index.hasUnsettled(outside: lost)
                for folder in unread { index.lose(folder) }
            }
            return due.flatMap { (key, orphan) -> [ItemKey] in
                guard index.orphans[key]?.since == orphan.since else { return [] }
                if let place = seen.places[key] {
                    index.adopt(key, at: place)
                    return []
                }
                guard isProof || !orphan.mayBeElsewhere else { return [] }
                let gone = index.forget(key)
                memory?.forget(gone)
                for key in gone { index.log.add(key) }
                return gone
            }
        }
        if !gone.isEmpty { watches.remove(Set(gone)) }
    }

    private func dueOrphans(in index: FolderIndex) -> [ItemKey: FolderIndex.Orphan] {
        let now = ContinuousClock.now
        return index.orphans.filter { $0.value.due <= now }
    }

    /// Searches the folders that have no events; after a long time the whole tree.
    private func search(for orphans: some Sequence<FolderIndex.Orphan>) throws(RemoteStoreError) -> Sightings {
        let oldest = orphans.map(\.since).min() ?? .now
        if ContinuousClock.now - oldest > Self.proofTimeout {
            return try search(below: [SearchStart(key: .root, names: [])])
        }
        let unlisted = index.withLock { index in
            index.unlisted.compactMap { key in index.names(of: key).map { SearchStart(key: key, names: $0) } }
        }
        return try search(below: unlisted)
    }
}
