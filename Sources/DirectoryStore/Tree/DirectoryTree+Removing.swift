import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

extension DirectoryTree {
    func delete(
        _ identifier: ItemIdentifier, base: ItemVersion
    ) throws(RemoteStoreError) {
        let found: Located
        do {
            found = try locate(identifier)
        } catch RemoteStoreError.noSuchItem {
            return
        }
        if found.key == .root { throw .deletionRejected(try describe(found)) }
        try changing([(found.place, found.folder)]) { () throws(RemoteStoreError) in
            if found.status.kind == .folder { try removeEmpty(found) } else { try removeAside(found, base) }
            let gone = index.withLock { $0.forget(found.key) }
            memory?.forget(gone)
        }
    }

    /// Removes a folder that contains only hidden entries.
    private func removeEmpty(_ found: Located) throws(RemoteStoreError) {
        do throws(Errno) {
            try SystemCalls.unlink(found.place.name, in: found.folder, isFolder: true)
            return
        } catch  where error == .directoryNotEmpty || error == .fileExists {
            // Checked below.
        } catch  where error.provesAbsence {
            return
        } catch {
            throw failure(error, at: path(found.names))
        }
        do throws(Errno) {
            try removeLeftovers(found)
            try SystemCalls.unlink(found.place.name, in: found.folder, isFolder: true)
        } catch  where error == .directoryNotEmpty || error == .fileExists {
            throw .directoryNotEmpty(found.key.identifier)
        } catch  where error.provesAbsence {
            return
        } catch {
            throw failure(error, at: path(found.names))
        }
    }

    /// Removes the temporary files of other, mostly dead, daemons from a folder that contains nothing else.
    private func removeLeftovers(_ found: Located) throws(Errno) {
        let inner = try SystemCalls.openFolder(found.place.name, in: found.folder)
        let entries = try SystemCalls.entries(of: inner)
        guard entries.allSatisfy({ TemporaryName.isOfAnother($0.name) }) else { return }
        for entry in entries { try remove(entry.name, try SystemCalls.status(of: entry.name, in: inner), in: inner) }
    }

    /// Renames the item to a hidden name, verifies that it is the intended one, and only then removes it.
    private func removeAside(_ found: Located, _ base: ItemVersion) throws(RemoteStoreError) {
        if found.status.contentVersion != base.content, found.status.kind == .file {
            throw .deletionRejected(try describe(found))
        }
        let aside = TemporaryName.make()
        do {
            try putAside(found.place.name, as: aside, in: found.folder)
        } catch  where error.provesAbsence {
            return
        } catch {
            throw failure(error, at: path(found.names))
        }
        do throws(Errno) {
            let status = known(try SystemCalls.status(of: aside, in: found.folder), at: found.place)
            let isMeant = ItemKey(status, at: found.place) == found.key && status.inode == found.status.inode
            if isMeant, status.contentVersion == found.status.contentVersion {
                return try remove(aside, status, in: found.folder)
            }
        } catch {
            try putBack(aside, found)
            throw failure(error, at: path(found.names))
        }
        try putBack(aside, found)
        throw .deletionRejected(nil)
    }

    /// Undoes the rename. A partly removed folder is moved back too: incomplete is better than hidden.
    private func putBack(_ aside: FileName, _ found: Located) throws(RemoteStoreError) {
        try at(path(found.names)) { () throws(Errno) in
            try give(found.place.name, to: aside, in: found.folder)
        }
    }

    /// Removes an entry, or a folder with its contents, without following symlinks or leaving the filesystem.
    func remove(_ name: FileName, _ status: FileStatus, in folder: OpenDescriptor) throws(Errno) {
        guard status.kind == .folder else { return try SystemCalls.unlink(name, in: folder) }
        let inner = try SystemCalls.openFolder(name, in: folder)
        for entry in try SystemCalls.entries(of: inner) {
            try remove(entry.name, try SystemCalls.status(of: entry.name, in: inner), in: inner)
        }
        try SystemCalls.unlink(name, in: folder, isFolder: true)
    }

    /// Runs `body`, which changes entries at these places of open folders.
    func changing<Result>(
        _ places: [(place: EntryPlace, folder: OpenDescriptor)],
        moving folder: (key: ItemKey, handle: OpenDescriptor)? = nil,
        _ body: () throws(RemoteStoreError) -> Result
    ) throws(RemoteStoreError) -> Result {
        let folders = places.map { (key: $0.place.parent, handle: $0.folder) } + (folder.map { [$0] } ?? [])
        return try readOnlyFolders.around(folders) { () throws(RemoteStoreError) in
            try quietly(places.map(\.place), body)
        }
    }

    /// Runs `body` while events at these places are held back; changes that `body` records are not reported.
    func quietly<Result>(
        _ places: [EntryPlace], _ body: () throws(RemoteStoreError) -> Result
    ) throws(RemoteStoreError) -> Result {
        index.withLock { $0.begin(places) }
        defer {
            if index.withLock({ $0.end(places) }) { watches.wake() }
        }
        return try body()
    }
}
