import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// Processes events. An event only names a place to check; the state found there may be newer than the event.
extension DirectoryTree {
    /// Processes all queued events. One thread at a time.
    /// - Throws: ``RemoteStoreError/serverUnreachable`` while the root is away.
    func drain() throws(RemoteStoreError) {
        try draining.withLock { count throws(RemoteStoreError) in
            count += 1
            let places = takeEvents()
            let top = try openRoot()
            settle(places, from: top)
            try settleOrphans(from: top)
        }
    }

    /// The places with events, and those that have to be checked again.
    func takeEvents() -> [EntryPlace: ChangeCause] {
        let batch = watches.take()
        return index.withLock { index in
            if batch.hasGap { index.expire() }
            var places = index.takeUnsettled()
            for event in batch.events { places[event.place, default: []].formUnion(event.cause) }
            return places
        }
    }

    /// How often unsettled places are retried immediately.
    private static let mostPasses = 5

    /// Processes places. Places in a folder that has moved are retried after the others, which may reveal the folder's
    /// new place; places whose item is missing are retried when the event with its new place arrives.
    func settle(_ places: [EntryPlace: ChangeCause], from top: OpenDescriptor) {
        var left = places
        var behindEvents: Set<EntryPlace> = []
        for _ in 0..<Self.mostPasses where !left.isEmpty {
            var pass = Pass()
            for (parent, group) in Dictionary(grouping: left, by: \.key.parent) {
                settle(group, in: parent, behindEvents, from: top, &pass)
            }
            left = pass.again
            guard !pass.missing.isEmpty else { continue }
            behindEvents.formUnion(pass.missing)
            left.merge(takeEvents()) { $0.union($1) }
        }
        index.withLock { $0.addUnsettled(left) }
    }

    /// Checks a place as if there had been an event.
    /// - Returns: Whether the item is now known to be there: no event would report the end of an item that is not in
    ///   the index.
    func takeIn(_ item: Item, at place: EntryPlace, from top: OpenDescriptor) -> Bool {
        var pass = Pass()
        settle([(place, .movedAway)], in: place.parent, [], from: top, &pass)
        return index.withLock { index in
            index.addUnsettled(pass.again)
            return index.isAt(place, item.identifier)
        }
    }

    /// The places that one pass leaves for the next.
    private struct Pass {
        var again: [EntryPlace: ChangeCause] = [:]
        /// The places in `again` with a missing item whose event is in the queue by now.
        var missing: Set<EntryPlace> = []

        mutating func ask(_ place: EntryPlace, _ cause: ChangeCause) { again[place, default: []].formUnion(cause) }
    }

    /// - Parameter behindEvents: Places whose events were all taken after an item was found missing there.
    private func settle(
        _ places: [(key: EntryPlace, value: ChangeCause)], in parent: ItemKey, _ behindEvents: Set<EntryPlace>,
        from top: OpenDescriptor,
        _ pass: inout Pass
    ) {
        index.withLock { index in
            guard index.isListed(parent) else { return }
            do throws(Errno) {
                let folder = try open(parent, index, from: top)
                let names = try namesThatCount(in: folder)
                var missing: [EntryPlace: ChangeCause] = [:]
                for (place, cause) in places {
                    let status = names?.contains(place.name) == false ? nil : try present(place, in: folder)
                    let own = status.map { settleClaim($0, at: place, in: folder, &index, from: top) }
                    if !behindEvents.contains(place), index.misses(place, own, cause) {
                        missing[place] = cause
                    } else {
                        for other in index.settle(place, own, cause) { pass.ask(other, []) }
                    }
                }
                postpone(missing, in: folder, &pass)
            } catch {
                if error.provesAbsence { _ = index.lose(parent) }
                for (place, cause) in places {
                    pass.ask(place, error.provesAbsence ? cause.subtracting(.blocked) : cause.union(.blocked))
                }
            }
        }
    }

    /// Retries the places together with the events about their missing items.
    private func postpone(_ missing: [EntryPlace: ChangeCause], in folder: OpenDescriptor, _ pass: inout Pass) {
        guard !missing.isEmpty else { return }
        // If the events can't be awaited, the item may have moved elsewhere.
        let unknown: ChangeCause = SystemCalls.awaitEvents(of: folder) ? [] : .movedAway
        for (place, cause) in missing { pass.ask(place, cause.union(unknown)) }
        pass.missing.formUnion(missing.keys)
    }

    /// The exact names in a case-insensitive folder, where another spelling finds the same entry; otherwise nil.
    private func namesThatCount(in folder: OpenDescriptor) throws(Errno) -> Set<FileName>? {
        guard !abilities.isCaseSensitive else { return nil }
        return Set(try SystemCalls.entries(of: folder).map(\.name))
    }

    /// The entry at a place, if it is part of the store.
    func present(_ place: EntryPlace, in folder: OpenDescriptor) throws(Errno) -> FileStatus? {
        do {
            let status = try status(at: place, in: folder)
            return status.kind == nil || isForeign(status) ? nil : status
        } catch  where error.provesAbsence {
            return nil
        }
    }
}
