import CLinux
import Glibc
import ReplicaModel
import SystemPackage

/// An item and where it was just seen.
struct Located {
    var key: ItemKey
    /// Open; the root's own for the root.
    var folder: Handle
    var place: Place
    var status: FileStatus
    /// From the root, for messages.
    var names: [FileName]
}

/// A folder that is open.
struct OpenFolder {
    var key: ItemKey
    var handle: Handle
    /// From the root, for messages.
    var names: [FileName]
}

extension DirectoryTree {
    /// Finds an item, wherever it is by now.
    /// - Throws: ``RemoteStoreError/noSuchItem(_:)`` when the whole tree has been looked through without finding it.
    func locate(_ identifier: ItemIdentifier) throws(RemoteStoreError) -> Located {
        guard let key = ItemKey(identifier) else { throw .noSuchItem(identifier) }
        let top = try openRoot()
        if key == .root {
            let status = try at(root.path) { () throws(Errno) in try Linux.status(of: top) }
            let place = Place(parent: .root, name: FileName("/"))
            return Located(key: .root, folder: top, place: place, status: status, names: [])
        }
        return try search(key) { () throws(RemoteStoreError) in try self.look(key, from: top) }
    }

    /// Opens a folder, wherever it is by now.
    func openFolder(_ identifier: ItemIdentifier) throws(RemoteStoreError) -> OpenFolder {
        if identifier == .trash { throw .unsupported("this store keeps no trash") }
        guard let key = ItemKey(identifier) else { throw .noSuchItem(identifier) }
        let top = try openRoot()
        if key == .root { return OpenFolder(key: .root, handle: top, names: []) }
        return try search(key) { () throws(RemoteStoreError) in try self.lookFolder(key, from: top) }
    }

    /// Looks where the index says; then, when that was wrong, through the whole tree, twice: what moves from a folder
    /// not yet seen to one already seen escapes one pass.
    private func search<Found>(
        _ key: ItemKey, _ look: () throws(RemoteStoreError) -> Found?
    ) throws(RemoteStoreError) -> Found {
        for _ in 0..<2 {
            if let found = try look() { return found }
            try scan()
        }
        if let found = try look() { return found }
        throw .noSuchItem(key.identifier)
    }

    /// Opens a folder at the place that the index has for it.
    private func lookFolder(_ key: ItemKey, from top: Handle) throws(RemoteStoreError) -> OpenFolder? {
        guard let names = index.withLock({ $0.names(of: key) }) else { return nil }
        do {
            return OpenFolder(key: key, handle: try open(key, at: names, from: top), names: names)
        } catch  where error.provesAbsence {
            if let found = try look(key, from: top), found.status.kind != .folder {
                throw .cannotSynchronize("\(path(names)) is not a folder")
            }
            return nil
        } catch {
            throw failure(error, at: path(names))
        }
    }

    /// Opens the folder that these names lead to.
    /// - Throws: ENOENT also when it is another one.
    func open(_ key: ItemKey, at names: [FileName], from top: Handle) throws(Errno) -> Handle {
        let folder = try walk(names, from: top)
        let status = try Linux.status(of: folder)
        // Where places are what is known, the index has the folder's.
        let isMeant = memory != nil || status.inode == key.inode && status.birth == key.birth
        guard isMeant, !isForeign(status) else {
            throw .noSuchFileOrDirectory
        }
        return folder
    }

    /// Looks at the place that the index has for an item.
    private func look(_ key: ItemKey, from top: Handle) throws(RemoteStoreError) -> Located? {
        let known = index.withLock { index in index.names(of: key).map { ($0, index.place(of: key)) } }
        guard let known, let place = known.1, !known.0.isEmpty else { return nil }
        do {
            let folder = try walk(known.0.dropLast(), from: top)
            let status = try status(at: place, in: folder)
            guard ItemKey(status, at: place) == key, !isForeign(status), status.kind != nil else {
                return nil
            }
            return Located(key: key, folder: folder, place: place, status: status, names: known.0)
        } catch  where error.provesAbsence {
            return nil
        } catch {
            throw failure(error, at: path(known.0))
        }
    }
}
