import ReplicaModel

/// The known part of the tree: the exact entries of each listed folder, and hints about the rest. It only helps to find
/// entries; each use checks the entry itself.
/// Large: all changes to the known tree are made here; its tables are types of their own.
struct FolderIndex {
    /// An item that left its place and was not found at another one yet.
    struct Orphan {
        var since: ContinuousClock.Instant
        /// Whether it may be in a folder that is not listed. False if it was unlinked or replaced.
        var mayBeElsewhere: Bool

        /// When it can be settled. inotify(7) reports both halves of a rename together, or almost together.
        var due: ContinuousClock.Instant { mayBeElsewhere ? since + .milliseconds(100) : since }
    }

    /// Known: the entries of the listed folders, and items that moved from there to other folders. Hinted: other items
    /// that a scan of the tree saw.
    private var table = EntryTable()
    /// The known folders that are not listed.
    private(set) var unlisted: Set<ItemKey> = []
    private(set) var orphans: [ItemKey: Orphan] = [:]
    /// The places of files with several names: an event about one name doesn't mention the others.
    private var linked: [ItemKey: Set<EntryPlace>] = [:]
    private var busy: [EntryPlace: Int] = [:]
    private var postponed: [EntryPlace: ChangeCause] = [:]
    /// Events whose folder could not be found, to be retried.
    private(set) var unsettled: [EntryPlace: ChangeCause] = [:]
    var log = ChangeLog()
    /// Writes to files in listed folders.
    private(set) var writes = WriteLog()
    /// Files whose status changed without a reported write: they may be written through a mapping, until they are closed.
    private var restated: Set<ItemKey> = []
    private static let mostRestated = 100_000

    func place(of key: ItemKey) -> EntryPlace? { table.place(of: key) }

    /// The names from the root to an item; nil if they are unknown.
    func names(of key: ItemKey) -> [FileName]? { table.names(of: key) }

    /// Where an item was last seen; nil if there is at most a hint.
    func knownPlace(of key: ItemKey) -> EntryPlace? {
        table.marks(of: key).contains(.known) ? table.place(of: key) : nil
    }

    /// The known place of an item in a listed folder of which it is no entry: the listing has not reached it yet, or it left
    /// before.
    func unreadPlace(of key: ItemKey) -> EntryPlace? {
        guard let place = knownPlace(of: key), isListed(place.parent), table.entry(at: place) == nil else { return nil }
        return place
    }

    /// Whether an item is known to be at a place now.
    func isAt(_ place: EntryPlace, _ identifier: ItemIdentifier) -> Bool {
        table.entry(at: place)?.identifier == identifier
    }

    func isListed(_ key: ItemKey) -> Bool { table.marks(of: key).contains(.listed) }

    /// Marks the folder as listed: from now on its entries are known and its changes are reported.
    mutating func list(_ key: ItemKey) {
        table.list(key)
        unlisted.remove(key)
    }

    /// Records the result of a lookup or an action of the store itself at a place, without reporting it as a change.
    mutating func record(_ status: FileStatus, at place: EntryPlace) {
        let key = ItemKey(status, at: place)
        guard isListed(place.parent) else { return recordUnlisted(key, status, at: place) }
        detach(from: place, unless: key, mayBeElsewhere: true)
        attach(key, status, at: place)
    }

    /// Records that the store itself gave the item a file of its own making: what was suspected of the former one is void.
    mutating func noteNewFile(of key: ItemKey) { restated.remove(key) }

    /// Records an entry that a listing found at a place. A change of place is logged here, because the events will find
    /// it already recorded, and the caller of the listing takes the entry for the item that it knows.
    mutating func find(_ status: FileStatus, at place: EntryPlace) {
        let key = ItemKey(status, at: place)
        let hasMoved = knownPlace(of: key).map { $0 != place } ?? false
        record(status, at: place)
        if hasMoved { log.add(key) }
    }

    /// Starts a search for an item that is not where it was last seen, and for its folders, unless they are entries of
    /// listed folders: of the others no event reports the new place. An item may also have left a folder, where a search
    /// had found it, before the folder was listed.
    /// - Returns: Whether there is anything to search for.
    @discardableResult
    mutating func lose(_ key: ItemKey) -> Bool {
        var isLost = false
        for here in table.climb(from: key) {
            let marks = table.marks(of: here)
            if marks.contains(.known), !marks.contains(.attached) {
                orphans[here] = orphans[here] ?? Orphan(since: .now, mayBeElsewhere: true)
                isLost = true
            }
        }
        return isLost
    }

    /// The unlisted folders that a search did not read, except those inside the items that it searched for.
    /// - Parameter visited: The folders that were read.
    func unread(_ visited: Set<ItemKey>, outside lost: [ItemKey: Orphan]) -> Set<ItemKey> {
        unlisted.filter { !visited.contains($0) && !isIn(lost, $0) }
    }

    /// Whether there are changes that cannot be interpreted yet.
    var isUnsteady: Bool {
        unsettled.values.contains { !$0.contains(.blocked) } || orphans.values.contains(where: \.mayBeElsewhere)
    }

    /// Whether there are changes from before a moment that cannot be interpreted yet. Later ones don't count: a store that
    /// changes all the time always has some.
    func isUnsteady(since moment: ContinuousClock.Instant) -> Bool {
        unsettled.values.contains { !$0.contains(.blocked) }
            || orphans.values.contains { $0.mayBeElsewhere && $0.since < moment }
    }

    /// Whether there are pending events of folders outside the searched items.
    func hasUnsettled(outside lost: [ItemKey: Orphan]) -> Bool { unsettled.keys.contains { !isIn(lost, $0.parent) } }

    private func isIn(_ lost: [ItemKey: Orphan], _ key: ItemKey) -> Bool {
        table.climb(from: key).contains { lost[$0] != nil }
    }

    private mutating func recordUnlisted(_ key: ItemKey, _ status: FileStatus, at place: EntryPlace) {
        guard table.marks(of: key).contains(.known) else { return table.hint(key, at: place) }
        table.place(key, statusHash: status.statusHash, at: place)
        orphans[key] = nil
    }

    /// Compares the entry at a place with the known one, and reports the difference.
    /// - Returns: The places of other names of the file, which may be another item now: the first name if a second one
    ///   was added, or the last remaining name.
    @discardableResult
    mutating func settle(_ place: EntryPlace, _ status: FileStatus?, _ cause: ChangeCause) -> Set<EntryPlace> {
        guard isListed(place.parent) else { return [] }
        if busy[place] != nil {
            postponed[place, default: []].formUnion(cause)
            return []
        }
        let key = status.map { ItemKey($0, at: place) }
        let old = table.entry(at: place)
        compare(place, status, key, cause)
        var others: Set<EntryPlace> = []
        if let old, old != key, old.link != 0, let left = linked[old.file], left.count == 1 { others = left }
        if let file = key?.file, file != key, let other = knownPlace(of: file), table.entry(at: other) == file {
            others.insert(other)
        }
        return others.subtracting([place])
    }

    /// Whether the known entry of a place is gone, and no event has reported yet that it moved.
    func misses(_ place: EntryPlace, _ status: FileStatus?, _ cause: ChangeCause) -> Bool {
        guard busy[place] == nil, !cause.contains(.movedAway), let old = table.entry(at: place) else { return false }
        return status.map { ItemKey($0, at: place) } != old
    }

    private mutating func compare(_ place: EntryPlace, _ status: FileStatus?, _ key: ItemKey?, _ cause: ChangeCause) {
        detach(from: place, unless: key, mayBeElsewhere: cause.contains(.movedAway))
        guard let key, let status else { return }
        let isKnown = table.entry(at: place) == key
        let isNews = isNews(status, table.statusHash(of: key), cause)
        let isWritten = isKnown && status.kind == .file && mayBeWritten(key, cause, isNews: isNews)
        if isKnown, !isWritten, !isNews { return }
        attach(key, status, at: place)
        log.add(key)
        if isWritten { writes.add(key, sequence: log.sequence, changed: status.changed) }
        if isKnown { reportOtherNames(of: key, status, than: place) }
    }

    /// Reports the other names of a changed file: events only mention the name that the program used.
    private mutating func reportOtherNames(of key: ItemKey, _ status: FileStatus, than place: EntryPlace) {
        guard key.link != 0, let names = linked[key.file] else { return }
        for other in names where other != place {
            guard let item = table.entry(at: other), item.file == key.file else { continue }
            // The status is the same, so that an event at the other name is no news.
            table.note(status.statusHash, of: item)
            log.add(item)
        }
    }

    /// Whether the file's content may have changed. A reported write always counts, even if the status is the known one, which may
    /// have been read after the write and before its event. A close by a writer counts if the status has changed since the last
    /// report: writes to a mapping cause no event of their own, and a program may restore the times before it closes the file.
    private mutating func mayBeWritten(_ key: ItemKey, _ cause: ChangeCause, isNews: Bool) -> Bool {
        let isClosed = cause.contains(.closed) && (isNews || restated.contains(key))
        if cause.contains(.written) || isClosed {
            restated.remove(key)
            return true
        }
        if isNews, restated.count < Self.mostRestated { restated.insert(key) }
        return false
    }

    /// A folder's times change with its entries, so they only count if an event reports a change of its own attributes.
    private func isNews(_ status: FileStatus, _ statusHash: Int, _ cause: ChangeCause) -> Bool {
        if status.kind == .folder, !cause.contains(.attributes) { return false }
        return status.statusHash != statusHash
    }

    private mutating func detach(from place: EntryPlace, unless key: ItemKey?, mayBeElsewhere: Bool) {
        guard let old = table.entry(at: place), old != key else { return }
        unlink(old, at: place)
        table.detach(old)
        orphans[old] = Orphan(since: .now, mayBeElsewhere: mayBeElsewhere || mayHaveEntries(old))
    }

    /// Whether it is a folder that was not empty when last reported: it can't have been unlinked or replaced. The
    /// lookup that missed it was ahead of the event of its move, or of the events of its entries.
    private func mayHaveEntries(_ key: ItemKey) -> Bool {
        isListed(key) ? !table.entries(of: key).isEmpty : unlisted.contains(key)
    }

    private mutating func attach(_ key: ItemKey, _ status: FileStatus, at place: EntryPlace) {
        table.attach(key, statusHash: status.statusHash, at: place)
        if key.link != 0 { linked[key.file, default: []].insert(place) }
        orphans[key] = nil
        if status.kind == .folder, !isListed(key) { unlisted.insert(key) }
    }

    private mutating func unlink(_ key: ItemKey, at place: EntryPlace) {
        guard key.link != 0, linked[key.file]?.remove(place) != nil, linked[key.file]?.isEmpty == true else { return }
        linked[key.file] = nil
    }

    /// Removes an item and everything below it.
    /// - Returns: The removed keys, children first.
    @discardableResult
    mutating func forget(_ key: ItemKey) -> [ItemKey] {
        var gone: [ItemKey] = []
        gather(key, into: &gone)
        for key in gone where key.link != 0 { table.place(of: key).map { unlink(key, at: $0) } }
        table.forget(gone)
        for key in gone {
            orphans[key] = nil
            unlisted.remove(key)
            restated.remove(key)
        }
        return gone
    }

    private func gather(_ key: ItemKey, into gone: inout [ItemKey]) {
        for child in table.entries(of: key) { gather(child, into: &gone) }
        gone.append(key)
    }

    /// Adds the results of a scan of the tree or of parts of it.
    mutating func addHints(_ found: [ItemKey: EntryPlace]) {
        for (key, place) in found where !table.marks(of: key).contains(.known) { table.hint(key, at: place) }
    }

    /// Adopts the places where a search saw known items whose places have unsettled events. Otherwise a folder that
    /// moved into an item that had been inside it could not be opened to settle them.
    mutating func adoptUnsettled(_ found: [ItemKey: EntryPlace]) {
        for (key, place) in found {
            guard let known = knownPlace(of: key), known != place, unsettled[known] != nil else { continue }
            adopt(key, at: place)
        }
    }

    /// Settles an orphan that a scan found in an unlisted folder.
    mutating func adopt(_ key: ItemKey, at place: EntryPlace) {
        orphans[key] = nil
        table.place(key, at: place)
        log.add(key)
    }

    /// Drops all records and expires the anchors; known places become hints.
    mutating func expire() {
        table.loosen()
        unlisted = []
        orphans = [:]
        linked = [:]
        unsettled = [:]
        (writes, restated) = (WriteLog(), [])
        log.expire()
    }

    /// Returns the events to retry.
    mutating func takeUnsettled() -> [EntryPlace: ChangeCause] {
        let taken = unsettled
        unsettled = [:]
        return taken
    }

    /// Keeps events for later, except those of folders that are no longer watched.
    mutating func addUnsettled(_ places: [EntryPlace: ChangeCause]) {
        for (place, cause) in places where isListed(place.parent) {
            unsettled[place, default: []].formUnion(cause)
        }
    }

    /// Holds back events at places that the store itself is changing.
    mutating func begin(_ places: [EntryPlace]) {
        for place in places { busy[place, default: 0] += 1 }
    }

    /// Releases the events at these places, starting with those that arrived in the meantime.
    /// - Returns: Whether there are any.
    mutating func end(_ places: [EntryPlace]) -> Bool {
        var hasEvents = false
        for place in places {
            let count = (busy[place] ?? 1) - 1
            busy[place] = count == 0 ? nil : count
            if count == 0, let cause = postponed.removeValue(forKey: place) {
                unsettled[place, default: []].formUnion(cause)
                hasEvents = true
            }
        }
        return hasEvents
    }
}
