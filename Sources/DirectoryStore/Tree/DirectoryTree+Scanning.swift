import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// A folder to search, and all below it.
struct SearchStart {
    var key: ItemKey
    /// From the root.
    var names: [FileName]
    /// Whether it should be there.
    var isFirm: Bool
}

extension DirectoryTree {
    /// Searches the whole tree and keeps the results as hints. One thread at a time.
    /// - Returns: Where each item was seen.
    func scan() throws(RemoteStoreError) -> [ItemKey: Place] {
        try scanning.withLock { count throws(RemoteStoreError) in
            count += 1
            let found = try places(below: [SearchStart(key: .root, names: [], isFirm: true)]).found
            index.withLock { $0.addHints(found) }
            return found
        }
    }

    /// The places of the items below some folders.
    /// - Returns: Also whether all of these folders were read that should be there, and all that is below.
    func places(below folders: [SearchStart]) throws(RemoteStoreError) -> (found: [ItemKey: Place], isWhole: Bool) {
        let top = try openRoot()
        var found: [ItemKey: Place] = [:]
        var isWhole = true
        var open = folders
        while let start = open.popLast() {
            let names = start.names
            do {
                let folder = try start.key == .root ? top : self.open(start.key, at: names, from: top)
                for place in try entries(of: folder, start.key) {
                    let inner = ItemKey(place.status, at: place.place)
                    found[inner] = place.place
                    if place.status.kind == .folder {
                        open.append(SearchStart(key: inner, names: names + [place.place.name], isFirm: true))
                    }
                }
            } catch  where error.provesAbsence {
                // Gone meanwhile, or moved.
                if start.isFirm { isWhole = false }
            } catch  where error == .permissionDenied || error == .notPermitted {
                // Closed to us and so no part of the store.
                continue
            } catch {
                throw failure(error, at: path(names))
            }
        }
        // Were the root replaced meanwhile, what was seen would prove nothing.
        _ = try openRoot()
        return (found, isWhole)
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
