import CLinux
import Glibc
import ReplicaModel
import SystemPackage

extension DirectoryTree {
    func item(_ identifier: ItemIdentifier) throws(RemoteStoreError) -> Item {
        let found = try locate(identifier)
        return try describe(found)
    }

    /// The item that was found.
    /// - Throws: ``RemoteStoreError/serverUnreachable`` when another item is in its place already.
    func describe(_ found: Located) throws(RemoteStoreError) -> Item {
        if found.key == .root { return try describeRoot(found) }
        let item = try describeOccupant(found)
        guard item.identifier == found.key.identifier else { throw .serverUnreachable }
        return item
    }

    /// Whatever item has a place by now: the one that was found there, or one that took its place since. Where names are given
    /// by links, a file that is just given one has two for a moment, and so another identifier.
    func describeOccupant(_ found: Located) throws(RemoteStoreError) -> Item {
        try at(path(found.names)) { () throws(Errno) in
            try describe(found.place, found.status, in: found.folder)
        }
    }

    private func describeRoot(_ found: Located) throws(RemoteStoreError) -> Item {
        var metadata = ItemMetadata()
        metadata.mode = found.status.mode
        return Item(
            identifier: .root, parent: .root, filename: FileName("/"), kind: .folder,
            version: ItemVersion(content: "", metadata: found.status.metadataVersion(at: found.place, metadata)),
            metadata: metadata)
    }

    /// The item at a place. A file or folder is opened, and what is open is told, should it just be replaced.
    func describe(_ place: Place, _ seen: FileStatus, in folder: Handle) throws(Errno) -> Item {
        guard seen.kind != .symlink, let file = try openForReading(place.name, seen, in: folder) else {
            if seen.kind == .symlink {
                return item(at: place, seen, metadata(seen), try Linux.target(of: place.name, in: folder))
            }
            var metadata = metadata(seen)
            let value = try Linux.attribute(AccessList.attribute, of: place.name, in: folder, atMost: 65_536)
            metadata.mode = metadata.mode.map { value.flatMap(AccessList.init)?.mode($0) ?? $0 }
            return item(at: place, seen, metadata, nil)
        }
        var status = try status(of: file, at: place)
        // What it says that it is was not believed.
        if seen.inherited == nil, seen.inode == status.inode { status.inherited = nil }
        return try describe(place, status, file)
    }

    /// The item at a place that is open as `file`, with this status.
    func describe(_ place: Place, _ status: FileStatus, _ file: Handle) throws(Errno) -> Item {
        var metadata = metadata(status)
        try Attributes.read(from: file, into: &metadata, withOwn: abilities.keepsAttributes)
        return item(at: place, status, metadata, nil)
    }

    /// Nil when it cannot be read, now or by us: it is then told without what only an open file tells.
    private func openForReading(
        _ name: FileName, _ seen: FileStatus, in folder: Handle
    ) throws(Errno) -> Handle? {
        do {
            // Without O_NONBLOCK a fifo that took the file's name would hold the thread.
            return try Linux.open(name, in: folder, O_RDONLY | O_NONBLOCK)
        } catch  where error.isOfOneFile {
            return nil
        }
    }

    private func metadata(_ status: FileStatus) -> ItemMetadata {
        var metadata = ItemMetadata()
        metadata.modificationDate = status.modified
        // A symlink's mode means nothing to Linux, nor does one that is the mount's for all files.
        if status.kind != .symlink, abilities.keepsModes { metadata.mode = status.mode }
        return metadata
    }

    private func item(
        at place: Place, _ status: FileStatus, _ metadata: ItemMetadata, _ target: [UInt8]?
    ) -> Item {
        Item(
            identifier: ItemKey(status, at: place).identifier, parent: place.parent.identifier,
            filename: place.name, kind: status.kind ?? .file,
            version: ItemVersion(
                content: status.contentVersion, metadata: status.metadataVersion(at: place, metadata)),
            size: status.kind == .file ? status.size : 0, target: target, metadata: metadata)
    }
}
