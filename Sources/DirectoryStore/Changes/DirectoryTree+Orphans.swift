import Glibc
import ReplicaModel
import Threads

/// What left its place and was not seen at another one yet. That it is seen nowhere is no proof that it is gone: the folder that
/// it went to may have moved as well.
extension DirectoryTree {
    /// Sleeps until it can be said of all that left its place where it went, or that it is gone.
    /// - Returns: False when there is nothing to wait for.
    func awaitOrphans() -> Bool {
        let due = index.withLock { index in index.orphans.values.lazy.filter(\.mayBeElsewhere).map(\.due).max() }
        guard let due else { return false }
        let left = max(due - ContinuousClock.now, Self.shortestWait) / .microseconds(1)
        usleep(UInt32(left.rounded(.up)))
        return true
    }

    /// What could not be settled is tried again after this time at the soonest.
    private static let shortestWait = Duration.milliseconds(5)
    /// How long the proof that an item is gone may fail, for others move folders all the time or one can't be read, before a
    /// search of the whole tree stands for it.
    private static let patience = Duration.seconds(5)

    /// Finds out what became of items that left their places a while ago.
    func settleOrphans(from top: Handle) throws(RemoteStoreError) {
        let due = index.withLock { index in
            let now = ContinuousClock.now
            return index.orphans.filter { $0.value.due <= now }
        }
        if due.isEmpty { return }
        let (found, isProof) = try search(for: due.values.filter(\.mayBeElsewhere))
        let gone = index.withLock { index -> [ItemKey] in
            index.addHints(found.filter { due[$0.key] == nil })
            return due.flatMap { (key, orphan) -> [ItemKey] in
                guard index.orphans[key] != nil else { return [] }
                if let place = found[key] {
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

    /// Searches where no event tells what comes.
    /// - Returns: What is there, and whether what was not found is nowhere.
    private func search(
        for orphans: [FolderIndex.Orphan]
    ) throws(RemoteStoreError) -> (found: [ItemKey: Place], isProof: Bool) {
        guard let oldest = orphans.map(\.since).min() else { return ([:], true) }
        let (unlisted, isSettled) = index.withLock { index in
            let folders = index.unlisted.compactMap { key in
                index.names(of: key).map { SearchStart(key: key, names: $0, isFirm: index.isFirm(key)) }
            }
            return (folders, !index.unsettled.keys.contains { index.isFirm($0.parent) })
        }
        let seen = try places(below: unlisted)
        if isSettled && seen.isWhole { return (seen.found, true) }
        guard ContinuousClock.now - oldest > Self.patience else { return (seen.found, false) }
        // Twice: what moves from a folder not yet seen to one already seen escapes one pass.
        let first = try scan()
        return (first.merging(try scan()) { $1 }, true)
    }
}
