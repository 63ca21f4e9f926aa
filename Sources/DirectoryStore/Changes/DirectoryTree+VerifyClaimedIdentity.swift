import Glibc
import ReplicaModel
import SystemPackage

/// Anyone who can write to the store can make a file claim to be any item. The claim is only accepted if no existing
/// file is that item; if there are two files, the one that only claims to be the item becomes a separate item.
extension DirectoryTree {
    /// The occupant of a place, after checking that it is not a second file of an item at another place.
    /// - Parameter status: The status of the occupant. If both files are one item, the attribute of one of them is
    ///   removed.
    func settleClaim(
        _ status: FileStatus, at place: EntryPlace, in folder: OpenDescriptor, _ index: inout FolderIndex,
        from top: OpenDescriptor
    ) -> FileStatus {
        let key = ItemKey(status, at: place)
        guard memory == nil, let other = index.knownPlace(of: key), other != place else { return status }
        do {
            let above = try open(other.parent, index, from: top)
            let found = try SystemCalls.status(of: other.name, in: above)
            guard ItemKey(found, at: other) == key, found.inode != status.inode else { return status }
            if status.inherited != nil { return disown(status, place.name, in: folder) }
            index.settle(other, disown(found, other.name, in: above), [])
            // Clients that saw the other file under this identifier have to learn where the item is.
            index.log.add(key)
            return status
        } catch {
            // The other file no longer exists.
            return status
        }
    }

    /// Removes a file's claim. The file gets its own identifier even if the claim can't be removed.
    private func disown(_ status: FileStatus, _ name: FileName, in folder: OpenDescriptor) -> FileStatus {
        var own = status
        own.inherited = nil
        do {
            try InheritedIdentity.take(from: name, in: folder)
            return try SystemCalls.status(of: name, in: folder)
        } catch {
            return own
        }
    }
}
