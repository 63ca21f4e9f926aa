import CLinux
import Glibc
import ReplicaModel
import SystemPackage

extension DirectoryTree {
    func item(_ identifier: ItemIdentifier) throws(RemoteStoreError) -> Item {
        let found = try locate(identifier)
        return try describe(found)
    }

    /// Describes the item that was found.
    /// - Throws: ``RemoteStoreError/serverUnreachable`` if another item has taken its place.
    func describe(_ found: Located) throws(RemoteStoreError) -> Item {
        if found.key == .root { return try describeRoot(found) }
        let item = try describeOccupant(found)
        guard item.identifier == found.key.identifier else { throw .serverUnreachable }
        return item
    }

    /// Describes the current item at a place: the one that was found there, or its replacement. Where entries are
    /// renamed by links, a file has two names for a moment, and thus another identifier.
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

    /// Describes the item at a place. A file or folder is opened, and the opened one is described even if it is being
    /// replaced.
    func describe(_ place: EntryPlace, _ seen: FileStatus, in folder: OpenDescriptor) throws(Errno) -> Item {
        guard seen.kind != .symlink, let file = try openForReading(place.name, seen, in: folder) else {
            if seen.kind == .symlink {
                return item(at: place, seen, metadata(seen), try SystemCalls.target(of: place.name, in: folder))
            }
            var metadata = metadata(seen)
            let value = try SystemCalls.attribute(AccessList.attribute, of: place.name, in: folder, atMost: 65_536)
            metadata.mode = metadata.mode.map { value.flatMap(AccessList.init)?.mode($0) ?? $0 }
            return item(at: place, seen, metadata, nil)
        }
        var status = try status(of: file, at: place)
        // The file's claim was rejected.
        if seen.inherited == nil, seen.inode == status.inode { status.inherited = nil }
        return try describe(place, status, file)
    }

    /// Describes the item at a place that is open as `file`, with this status.
    func describe(_ place: EntryPlace, _ status: FileStatus, _ file: OpenDescriptor) throws(Errno) -> Item {
        var metadata = metadata(status)
        try MetadataXattrs.read(from: file, into: &metadata, withOwn: abilities.keepsAttributes)
        return item(at: place, status, metadata, nil)
    }

    /// Opens an entry for reading; nil if that is not possible: it is then described without the metadata that requires
    /// an open file.
    private func openForReading(
        _ name: FileName, _ seen: FileStatus, in folder: OpenDescriptor
    ) throws(Errno) -> OpenDescriptor? {
        do {
            // Without O_NONBLOCK, opening a fifo that took the file's name would block the thread.
            return try SystemCalls.open(name, in: folder, O_RDONLY | O_NONBLOCK)
        } catch  where error.isOfOneFile {
            return nil
        }
    }

    private func metadata(_ status: FileStatus) -> ItemMetadata {
        var metadata = ItemMetadata()
        metadata.modificationDate = status.modified
        // A symlink's mode has no meaning on Linux; neither has a mode that the mount sets for all files.
        if status.kind != .symlink, abilities.keepsModes { metadata.mode = status.mode }
        return metadata
    }

    private func item(
        at place: EntryPlace, _ status: FileStatus, _ metadata: ItemMetadata, _ target: [UInt8]?
    ) -> Item {
        Item(
            identifier: ItemKey(status, at: place).identifier, parent: place.parent.identifier,
            filename: place.name, kind: status.kind ?? .file,
            version: ItemVersion(
                content: status.contentVersion, metadata: status.metadataVersion(at: place, metadata)),
            size: status.kind == .file ? status.size : 0, target: target, metadata: metadata)
    }
}
