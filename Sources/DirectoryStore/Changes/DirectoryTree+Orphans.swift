import Glibc
import ReplicaModel
import Threads

/// What left its place and was not seen at another one yet. That it is seen nowhere is no proof that it is gone: the folder that
/// it went to may have moved as well.
extension DirectoryTree {
    /// Sleeps until it is known of all items that left their places where they went, or that they are gone.
    /// - Returns: False when there is nothing to wait for.
    func awaitOrphans() -> Bool {
        let due = index.withLock { index in index.orphans.values.lazy.filter(\.mayBeElsewhere).map(\.due).max() }
        guard let due else { return false }
        let left = max(due - ContinuousClock.now, Self.shortestWait) / .microseconds(1)
        usleep(UInt32(left.rounded(.up)))
        return true
    }

    /// The shortest pause before unsettled orphans are retried.
    private static let shortestWait = Duration.milliseconds(5)
    /// How long the proof that an item is gone may fail, for others move folders all the time or one can't be read, before a
    /// search of the whole tree stands for it.
    private static let patience = Duration.seconds(5)

    /// Determines what became of items that left their places a while ago.
    func settleOrphans(from top: Handle) throws(RemoteStoreError) {
        let due = index.withLock { index in
            let now = ContinuousClock.now
            return index.orphans.filter { $0.value.due <= now }
        }
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

    /// Searches the folders that have no events; after a long time the whole tree.
    private func search(for orphans: some Sequence<FolderIndex.Orphan>) throws(RemoteStoreError) -> Sightings {
        let oldest = orphans.map(\.since).min() ?? .now
        if ContinuousClock.now - oldest > Self.patience {
            return try search(below: [SearchStart(key: .root, names: [])])
        }
        let unlisted = index.withLock { index in
            index.unlisted.compactMap { key in index.names(of: key).map { SearchStart(key: key, names: $0) } }
        }
        return try search(below: unlisted)
    }
}
