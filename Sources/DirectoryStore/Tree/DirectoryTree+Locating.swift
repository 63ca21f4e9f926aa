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
        let found = try locate(identifier)
        if found.key == .root { return OpenFolder(key: .root, handle: found.folder, names: []) }
        guard found.status.kind == .folder else {
            throw .cannotSynchronize("\(path(found.names)) is not a folder")
        }
        let handle: Handle
        do {
            handle = try Linux.open(found.place.name, in: found.folder, CL_O_PATH | O_DIRECTORY)
        } catch {
            throw failure(error, at: path(found.names))
        }
        let status = try at(path(found.names)) { () throws(Errno) in try Linux.status(of: handle) }
        // Replaced between two looks: the next try sees what became of it.
        guard status.inode == found.key.inode else { throw .serverUnreachable }
        return OpenFolder(key: found.key, handle: handle, names: found.names)
    }

    /// Looks where the index says; then, when that was wrong, through the whole tree, twice: what moves from a folder
    /// not yet seen to one already seen escapes one pass.
    private func search(
        _ key: ItemKey, _ look: () throws(RemoteStoreError) -> Located?
    ) throws(RemoteStoreError) -> Located {
        for _ in 0..<2 {
            if let found = try look() { return found }
            try scan()
        }
        if let found = try look() { return found }
        throw .noSuchItem(key.identifier)
    }

    /// Looks at the place that the index has for an item.
    private func look(_ key: ItemKey, from top: Handle) throws(RemoteStoreError) -> Located? {
        let known = index.withLock { index in index.names(of: key).map { ($0, index.place(of: key)) } }
        guard let known, let place = known.1, let name = known.0.last else { return nil }
        do {
            let folder = try walk(known.0.dropLast(), from: top)
            let status = try Linux.status(of: name, in: folder)
            guard ItemKey(status, at: place) == key, status.device == root.device, status.kind != nil else {
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
