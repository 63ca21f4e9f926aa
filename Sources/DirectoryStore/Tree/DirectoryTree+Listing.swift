import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

extension DirectoryTree {
    /// The maximum number of items per page.
    static let pageSize = 1_000

    func enumerate(_ identifier: ItemIdentifier, from page: EnumerationPage?) throws(RemoteStoreError) -> ItemPage {
        let began = ContinuousClock.now
        defer { listingTime.withLock { $0 += ContinuousClock.now - began } }
        let folder = try openFolder(identifier)
        let number = try page == nil ? beginListing(of: folder) : nil
        let wanted = number.map { EnumerationPage(bytes: Array("\($0).0".utf8)) } ?? page
        let found = try listings.withLock { table throws(RemoteStoreError) in
            try table.page(wanted ?? EnumerationPage(bytes: []), Self.pageSize)
        }
        if found.next == nil { listings.withLock { $0.remove(found.number) } }
        let items = try items(found.names, in: folder)
        return ItemPage(items: items, next: found.next)
    }

    /// Watches the folder, then reads its names, so that no later change is missed.
    private func beginListing(of folder: OpenFolder) throws(RemoteStoreError) -> UInt64 {
        let names = try at(path(folder.names)) { () throws(Errno) in
            try watches.add(folder.handle, folder.key)
            index.withLock { $0.list(folder.key) }
            let entries = try SystemCalls.entries(of: folder.handle)
            sweep(entries, in: folder.handle)
            return entries.map(\.name).filter { !TemporaryName.matches($0) }
        }
        return listings.withLock { $0.add(names) }
    }

    private func items(_ names: ArraySlice<FileName>, in folder: OpenFolder) throws(RemoteStoreError) -> [Item] {
        let top = try openRoot()
        return try at(path(folder.names)) { () throws(Errno) in
            var items: [Item] = []
            for (place, status) in try readEntries(names, in: folder, from: top) {
                do throws(Errno) {
                    items.append(try describe(place, status, in: folder.handle))
                } catch  where error.provesAbsence {
                    continue
                }
            }
            return items
        }
    }

    /// Reads the entry under the lock, so that an older state cannot overwrite an event that was already processed.
    private func readEntries(
        _ names: ArraySlice<FileName>, in folder: OpenFolder, from top: OpenDescriptor
    ) throws(Errno) -> [(EntryPlace, FileStatus)] {
        try index.withLock { index throws(Errno) in
            var seen: [(EntryPlace, FileStatus)] = []
            var positions: [ItemKey: Int] = [:]
            for name in names {
                let place = EntryPlace(parent: folder.key, name: name)
                guard let found = try present(place, in: folder.handle) else { continue }
                let status = settleClaim(found, at: place, in: folder.handle, &index, from: top)
                let key = ItemKey(status, at: place)
                index.find(status, at: place)
                // The listing first found another file that only claims to be the item.
                if let position = positions[key] { seen[position].1.inherited = nil }
                positions[key] = seen.count
                seen.append((place, status))
            }
            return seen
        }
    }

    /// Removes temporary files of dead daemons from a folder.
    private func sweep(_ entries: [FolderEntry], in folder: OpenDescriptor) {
        for entry in entries where TemporaryName.matches(entry.name) {
            // A file that can't be removed now is retried at the next listing.
            guard let status = try? SystemCalls.status(of: entry.name, in: folder) else { continue }
            let age = Duration.nanoseconds(Timestamp.now.nanoseconds.saturatingSubtract(status.changed))
            guard age > temporaryLife || TemporaryName.isOfDead(entry.name) else { continue }
            _ = try? remove(entry.name, status, in: folder)
        }
    }
}

extension Timestamp {
    /// The current wall-clock time.
    static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
    }
}
