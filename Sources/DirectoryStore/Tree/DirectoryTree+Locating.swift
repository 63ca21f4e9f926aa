import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// An item and the place where it was found.
struct Located {
    var key: ItemKey
    /// Open; for the root, the root itself.
    var folder: OpenDescriptor
    var place: EntryPlace
    var status: FileStatus
    /// From the root, for messages.
    var names: [FileName]
}

/// An open folder.
struct OpenFolder {
    var key: ItemKey
    var handle: OpenDescriptor
    /// From the root, for messages.
    var names: [FileName]
}

/// A possible location of an item.
struct KnownPath {
    var place: EntryPlace
    /// From the root; the last one is the place's name.
    var names: [FileName]

    init?(place: EntryPlace?, names: [FileName]?) {
        guard let place, let names, !names.isEmpty else { return nil }
        (self.place, self.names) = (place, names)
    }

    /// Nil if the scan that found `places` did not see the item.
    init?(of key: ItemKey, in places: [ItemKey: EntryPlace]) {
        var names: [FileName] = []
        var here = key
        while here != .root {
            // Moves during a scan can form a cycle.
            guard let place = places[here], names.count < places.count else { return nil }
            names.append(place.name)
            here = place.parent
        }
        self.init(place: places[key], names: names.reversed())
    }
}

extension DirectoryTree {
    /// Finds an item, even if it was moved.
    /// - Throws: ``RemoteStoreError/noSuchItem(_:)`` if a search of the whole tree did not find it;
    ///   ``RemoteStoreError/itemUnavailable(_:)`` if it moves too often to be found.
    func locate(_ identifier: ItemIdentifier) throws(RemoteStoreError) -> Located {
        guard let key = ItemKey(identifier) else { throw .noSuchItem(identifier) }
        let top = try openRoot()
        if key == .root {
            let status = try at(root.path) { () throws(Errno) in try SystemCalls.status(of: top) }
            let place = EntryPlace(parent: .root, name: FileName("/"))
            return Located(key: .root, folder: top, place: place, status: status, names: [])
        }
        return try search(key) { (path) throws(RemoteStoreError) in try self.findEntry(key, at: path, from: top) }
    }

    /// Opens a folder, even if it was moved.
    func openFolder(_ identifier: ItemIdentifier) throws(RemoteStoreError) -> OpenFolder {
        if identifier == .trash { throw .unsupported("this store keeps no trash") }
        guard let key = ItemKey(identifier) else { throw .noSuchItem(identifier) }
        let top = try openRoot()
        if key == .root { return OpenFolder(key: .root, handle: top, names: []) }
        return try search(key) { (path) throws(RemoteStoreError) in try self.findFolder(key, at: path, from: top) }
    }

    /// The maximum number of searches for an item while others move entries in the tree.
    private static let mostSearches = 8

    /// Looks at the place in the index, and if that is wrong, at the place where a search of the whole tree found the
    /// item. The index may be behind the tree, for example after a rename by this store that another thread has not
    /// recorded yet.
    /// - Throws: ``RemoteStoreError/noSuchItem(_:)`` if a search of an unchanged tree, or every search, did not find
    ///   it; ``RemoteStoreError/itemUnavailable(_:)`` if it exists but is never at the place where it was just seen.
    private func search<Found>(
        _ key: ItemKey, _ find: (KnownPath) throws(RemoteStoreError) -> Found?
    ) throws(RemoteStoreError) -> Found {
        if let found = try tryKnownPlace(key, find) { return found }
        var wasSeen = false
        for _ in 0..<Self.mostSearches {
            let seen = try scan()
            if let path = KnownPath(of: key, in: seen.places), let found = try find(path) { return found }
            if let found = try tryKnownPlace(key, find) { return found }
            wasSeen = wasSeen || seen.places[key] != nil
            if seen.isSteady, seen.places[key] == nil { throw .noSuchItem(key.identifier) }
        }
        guard wasSeen else { throw .noSuchItem(key.identifier) }
        throw .itemUnavailable("it keeps moving")
    }

    private func tryKnownPlace<Found>(
        _ key: ItemKey, _ find: (KnownPath) throws(RemoteStoreError) -> Found?
    ) throws(RemoteStoreError) -> Found? {
        let known = index.withLock { index in KnownPath(place: index.place(of: key), names: index.names(of: key)) }
        guard let known else { return nil }
        return try find(known)
    }

    /// Opens a folder at a possible place.
    private func findFolder(
        _ key: ItemKey, at known: KnownPath, from top: OpenDescriptor
    ) throws(RemoteStoreError) -> OpenFolder? {
        do {
            return OpenFolder(key: key, handle: try open(key, at: known.names, from: top), names: known.names)
        } catch  where error.provesAbsence {
            if let found = try findEntry(key, at: known, from: top), found.status.kind != .folder {
                throw .cannotSynchronize("\(path(known.names)) is not a folder")
            }
            return nil
        } catch {
            throw failure(error, at: path(known.names))
        }
    }

    /// Opens the folder with these names.
    /// - Throws: ENOENT also if it is another folder.
    func open(_ key: ItemKey, at names: [FileName], from top: OpenDescriptor) throws(Errno) -> OpenDescriptor {
        let folder = try walk(names, from: top)
        let status = try SystemCalls.status(of: folder)
        // Where items are identified by places, the index contains the folder's key.
        let isMeant = memory != nil || status.inode == key.inode && status.birth == key.birth
        guard isMeant, !isForeign(status) else {
            throw .noSuchFileOrDirectory
        }
        return folder
    }

    /// Checks a possible place of an item.
    private func findEntry(
        _ key: ItemKey, at known: KnownPath, from top: OpenDescriptor
    ) throws(RemoteStoreError) -> Located? {
        let (place, names) = (known.place, known.names)
        do {
            let folder = try walk(names.dropLast(), from: top)
            let status = try status(at: place, in: folder)
            guard ItemKey(status, at: place) == key, !isForeign(status), status.kind != nil else {
                return nil
            }
            return Located(key: key, folder: folder, place: place, status: status, names: names)
        } catch  where error.provesAbsence {
            return nil
        } catch {
            throw failure(error, at: path(names))
        }
    }
}
