import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

extension DirectoryTree {
    /// Searches the whole tree and keeps the results as hints. One thread at a time.
    /// - Returns: Where each item was seen.
    func scan() throws(RemoteStoreError) -> [ItemKey: Place] {
        try scanning.withLock { count throws(RemoteStoreError) in
            count += 1
            let found = try places(below: [(ItemKey.root, [])])
            index.withLock { $0.addHints(found) }
            return found
        }
    }

    /// The places of the items below some folders.
    func places(below folders: [(ItemKey, [FileName])]) throws(RemoteStoreError) -> [ItemKey: Place] {
        let top = try openRoot()
        var found: [ItemKey: Place] = [:]
        var open = folders
        while let (key, names) = open.popLast() {
            do {
                let folder = try walk(names, from: top)
                for place in try entries(of: folder, key) {
                    let inner = ItemKey(place.status, at: place.place)
                    found[inner] = place.place
                    if place.status.kind == .folder { open.append((inner, names + [place.place.name])) }
                }
            } catch  where error.provesAbsence || error == .permissionDenied || error == .notPermitted {
                // Gone meanwhile, or closed to us and so no part of the store.
                continue
            } catch {
                throw failure(error, at: path(names))
            }
        }
        // Were the root replaced meanwhile, what was seen would prove nothing.
        _ = try openRoot()
        return found
    }

    private func entries(
        of folder: Handle, _ key: ItemKey
    ) throws(Errno) -> [(place: Place, status: FileStatus)] {
        var found: [(Place, FileStatus)] = []
        for entry in try Linux.entries(of: folder) where !TemporaryName.matches(entry.name) {
            let status: FileStatus
            do {
                status = try self.status(at: Place(parent: key, name: entry.name), in: folder)
            } catch  where error.provesAbsence {
                continue
            }
            if status.kind != nil, !isForeign(status) {
                found.append((Place(parent: key, name: entry.name), status))
            }
        }
        return found
    }
}
