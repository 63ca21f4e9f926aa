import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// A folder to search with everything below it.
struct SearchStart {
    var key: ItemKey
    /// From the root.
    var names: [FileName]
}

/// The results of a search.
struct Sightings {
    /// A folder that was read.
    struct Visit {
        var names: [FileName]
        /// Its change time before it was read, in nanoseconds.
        var changed: Int64
        /// Whether the change time would show a later change, because the clock can't return the same time again.
        var isTelling: Bool
    }

    var places: [ItemKey: EntryPlace] = [:]
    /// The folders that were read. Folders that this user can't read are not part of the store.
    var visits: [ItemKey: Visit] = [:]
    /// Whether everything was unchanged when the search ended. A single pass misses an item that moves from a folder
    /// that is not read yet to one that was already read.
    var isSteady = false
}

extension DirectoryTree {
    /// Searches the whole tree and keeps the results as hints. One thread at a time.
    func scan() throws(RemoteStoreError) -> Sightings {
        try scanning.withLock { count throws(RemoteStoreError) in
            count += 1
            let seen = try search(below: [SearchStart(key: .root, names: [])])
            index.withLock { $0.addHints(seen.places) }
            return seen
        }
    }

    /// The maximum number of times that folders that changed in the meantime are read again.
    private static let mostRounds = 3

    /// Searches folders until they no longer change, with a limit.
    func search(below starts: [SearchStart]) throws(RemoteStoreError) -> Sightings {
        var seen = Sightings()
        var open = starts
        for _ in 0..<Self.mostRounds {
            try read(below: open, &seen)
            let (changed, gone) = try changed(since: seen)
            for key in gone { seen.visits[key] = nil }
            seen.isSteady = changed.isEmpty && gone.isEmpty
            if seen.isSteady { break }
            open = changed
        }
        return seen
    }

    /// Reads folders, and everything below them that was not read yet.
    private func read(below starts: [SearchStart], _ seen: inout Sightings) throws(RemoteStoreError) {
        let top = try openRoot()
        var open = starts
        while let start = open.popLast() {
            do {
                let folder = try self.open(start, from: top)
                let visit = try Self.visit(folder, start.names)
                for (place, status) in try entries(of: folder, start.key) {
                    let key = ItemKey(status, at: place)
                    let names = start.names + [place.name]
                    seen.places[key] = place
                    guard status.kind == .folder, seen.visits[key]?.names != names else { continue }
                    open.append(SearchStart(key: key, names: names))
                }
                seen.visits[start.key] = visit
            } catch  where error.provesAbsence {
                // The folder was removed or moved in the meantime.
                seen.visits[start.key] = nil
            } catch  where error == .permissionDenied || error == .notPermitted {
                seen.visits[start.key] = Sightings.Visit(names: start.names, changed: 0, isTelling: true)
            } catch {
                throw failure(error, at: path(start.names))
            }
        }
        // If the root was replaced in the meantime, the result proves nothing.
        _ = try openRoot()
    }

    private func open(_ start: SearchStart, from top: OpenDescriptor) throws(Errno) -> OpenDescriptor {
        try start.key == .root ? top : open(start.key, at: start.names, from: top)
    }

    /// The longest time in which all changes of a folder can get the same timestamp, in nanoseconds: two ticks of a
    /// kernel with 100 ticks per second.
    private static let clockGrain: Int64 = 20_000_000

    private static func visit(_ folder: OpenDescriptor, _ names: [FileName]) throws(Errno) -> Sightings.Visit {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let changed = try SystemCalls.status(of: folder).changed
        let age = (Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)).subtractingReportingOverflow(changed)
        return Sightings.Visit(
            names: names, changed: changed, isTelling: age.overflow || age.partialValue > clockGrain)
    }

    /// The folders whose recorded entries may be outdated, and those that no longer exist: these count as not read, and
    /// the folder they moved to has changed.
    private func changed(since seen: Sightings) throws(RemoteStoreError) -> (changed: [SearchStart], gone: [ItemKey]) {
        let top = try openRoot()
        var changed: [SearchStart] = []
        var gone: [ItemKey] = []
        for (key, visit) in seen.visits where visit.changed != 0 {
            let start = SearchStart(key: key, names: visit.names)
            do {
                let now = try SystemCalls.status(of: try open(start, from: top)).changed
                if now != visit.changed || !visit.isTelling { changed.append(start) }
            } catch  where error.provesAbsence {
                gone.append(key)
            } catch {
                changed.append(start)
            }
        }
        return (changed, gone)
    }

    private func entries(
        of folder: OpenDescriptor, _ key: ItemKey
    ) throws(Errno) -> [(place: EntryPlace, status: FileStatus)] {
        var found: [(EntryPlace, FileStatus)] = []
        for entry in try SystemCalls.entries(of: folder) where !TemporaryName.matches(entry.name) {
            let status: FileStatus
            do {
                status = try self.status(at: EntryPlace(parent: key, name: entry.name), in: folder)
            } catch  where error.provesAbsence {
                continue
            }
            if status.kind != nil, !isForeign(status) {
                found.append((EntryPlace(parent: key, name: entry.name), status))
            }
        }
        return found
    }
}
