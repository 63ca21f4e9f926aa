import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

/// A new entry, complete except for its name.
struct Draft {
    /// Its temporary name.
    var name: FileName
    /// Whether the folder has the temporary name. A file without any name is gone once it is closed.
    var isNamed = true
    var folder: OpenDescriptor
    /// Open, except for a symlink.
    var file: OpenDescriptor?
    /// The fields for which the filesystem has no space.
    var refused: ItemFields = []
}

extension DirectoryTree {
    /// Creates a file with these contents. If the daemon crashes, the file is complete or has its temporary name.
    /// - Parameter isNamed: Whether it needs that name. Without, two changes of the folder are saved.
    func draftFile(
        _ contents: ItemContents?, in folder: OpenFolder, isNamed: Bool = true, _ flag: CancellationFlag,
        _ dress: (OpenDescriptor) throws(Errno) -> ItemFields
    ) throws(RemoteStoreError) -> Draft {
        let path = path(folder.names)
        let name = TemporaryName.make()
        // If that fails, the error of the next call says why.
        let unnamed = isNamed || !namesLater(in: folder.handle) ? nil : try? SystemCalls.openUnnamed(in: folder.handle)
        let file = try open(path, folder) { () throws(Errno) in
            if let unnamed { return unnamed }
            return try SystemCalls.open(name, in: folder.handle, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        }
        var draft = Draft(name: name, isNamed: unnamed == nil, folder: folder.handle, file: file)
        do {
            if let contents {
                try ContentCopy.copy(contents, to: file, path, flag)
                // Starts writeback without waiting for it: ext4 then never commits a name before its bytes.
                _ = sync_file_range(file.raw, 0, 0, CL_SYNC_FILE_RANGE_WRITE)
            }
            draft.refused = try at(path) { () throws(Errno) in try dress(file) }
            return draft
        } catch {
            discard(draft)
            throw error
        }
    }

    func draftFolder(
        in folder: OpenFolder, _ dress: (OpenDescriptor) throws(Errno) -> ItemFields
    ) throws(RemoteStoreError) -> Draft {
        let name = TemporaryName.make()
        try open(path(folder.names), folder) { () throws(Errno) in
            try SystemCalls.makeFolder(name, in: folder.handle)
        }
        var draft = Draft(name: name, folder: folder.handle)
        do {
            let file = try at(path(folder.names)) { () throws(Errno) in
                try SystemCalls.open(name, in: folder.handle, O_RDONLY | O_DIRECTORY)
            }
            draft.file = file
            draft.refused = try at(path(folder.names)) { () throws(Errno) in try dress(file) }
            return draft
        } catch {
            discard(draft)
            throw error
        }
    }

    func draftSymlink(to target: [UInt8], in folder: OpenFolder) throws(RemoteStoreError) -> Draft {
        let name = TemporaryName.make()
        try open(path(folder.names), folder) { () throws(Errno) in
            try SystemCalls.makeSymlink(name, in: folder.handle, to: target)
        }
        return Draft(name: name, folder: folder.handle)
    }

    /// Gives a draft its final name.
    /// - Throws: `fileExists` if the name is taken.
    func publish(_ draft: Draft, as name: FileName) throws(Errno) {
        guard let file = draft.file, !draft.isNamed else { return try give(name, to: draft.name, in: draft.folder) }
        try SystemCalls.link(file, as: name, in: draft.folder)
    }

    /// Whether the filesystem can create a file without a name, and name it later (O_TMPFILE, linkat(2)). That replaces
    /// nothing, but a rename by another thread could replace the file where it is not exact.
    func namesLater(in folder: OpenDescriptor) -> Bool {
        guard abilities.renamesExactly else { return false }
        if let known = canNameLater.withLock({ $0 }) { return known }
        let name = TemporaryName.make()
        do throws(Errno) {
            try SystemCalls.link(try SystemCalls.openUnnamed(in: folder), as: name, in: folder)
            try SystemCalls.unlink(name, in: folder)
            canNameLater.withLock { $0 = true }
            return true
        } catch {
            // Otherwise the folder or the disk fails, perhaps only now.
            if Self.lackingUnnamed.contains(error) { canNameLater.withLock { $0 = false } }
            return false
        }
    }

    private static let lackingUnnamed: Set<Errno> = [.notSupported, .isDirectory, .invalidArgument]

    /// Removes a draft. If that fails, it is removed later.
    func discard(_ draft: Draft) {
        guard draft.isNamed, let status = try? SystemCalls.status(of: draft.name, in: draft.folder) else { return }
        _ = try? remove(draft.name, status, in: draft.folder)
    }

    /// Creates a draft's entry; ENOENT here proves that the open folder was removed.
    private func open<Result>(
        _ path: String, _ folder: OpenFolder, _ body: () throws(Errno) -> Result
    ) throws(RemoteStoreError) -> Result {
        do {
            return try body()
        } catch .noSuchFileOrDirectory {
            throw .noSuchItem(folder.key.identifier)
        } catch {
            throw failure(error, at: path)
        }
    }

    /// Sets the metadata of an open file or folder; the times last, because all other changes modify them.
    /// - Returns: The fields that could not be kept.
    func dress(
        _ file: OpenDescriptor, _ metadata: ItemMetadata, _ fields: ItemFields
    ) throws(Errno) -> ItemFields {
        let kept = fields.intersection(abilities.fields)
        var refused = fields.intersection(.metadata).subtracting(kept)
        refused.formUnion(try MetadataXattrs.write(metadata, kept, to: file))
        if kept.contains(.mode), let mode = metadata.mode {
            // The file here belongs to the daemon's user: with its set-user-ID bit it would run as that user.
            let harmless = mode & ~0o6000
            if harmless != mode { refused.insert(.mode) }
            try SystemCalls.setMode(harmless & 0o7777, of: file)
        }
        if fields.contains(.modificationDate), let date = metadata.modificationDate {
            do throws(Errno) {
                try SystemCalls.setModificationDate(date, of: file)
            } catch {
                // If times can't be stored exactly, the rounded time is still set, for users who look there.
                if kept.contains(.modificationDate) { throw error }
            }
        }
        return refused
    }
}
