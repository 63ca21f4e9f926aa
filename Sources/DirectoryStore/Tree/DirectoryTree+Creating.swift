import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

extension DirectoryTree {
    func create(
        _ template: ItemTemplate, _ fields: ItemFields, _ contents: ItemContents?, _ options: CreateOptions,
        _ flag: CancellationFlag
    ) throws(RemoteStoreError) -> StoreResult {
        try checkName(template.filename)
        let folder = try openFolder(template.parent)
        let place = EntryPlace(parent: folder.key, name: template.filename)
        let isCheckedFirst = !isTakenForFree(template, contents)
        if isCheckedFirst {
            if let other = try occupant(place, folder) { return try adopt(other, template, contents, options, flag) }
            wasNameTaken.withLock { $0 = false }
        }
        return try changing([(place, folder.handle)]) { () throws(RemoteStoreError) in
            let draft: Draft
            do throws(RemoteStoreError) {
                draft = try self.draft(template, fields, contents, in: folder, flag)
            } catch {
                // On a full or read-only disk an item that is there already is still found.
                guard !isCheckedFirst, let other = try occupant(place, folder) else { throw error }
                return try adopt(other, template, contents, options, flag)
            }
            marks.withLock { $0.note(template.identifier, template.filename, in: folder.key) }
            do throws(Errno) {
                try publish(draft, as: template.filename)
            } catch {
                discard(draft)
                marks.withLock { $0.withdraw(template.identifier, in: folder.key) }
                let other = error == .fileExists || !isCheckedFirst ? try occupant(place, folder) : nil
                guard let other else {
                    throw error == .fileExists ? .serverUnreachable : failure(error, at: path(folder.names))
                }
                wasNameTaken.withLock { $0 = true }
                return try adopt(other, template, contents, options, flag)
            }
            let item = try arrived(place, folder, draft)
            return StoreResult(item: item, stillPending: draft.refused)
        }
    }

    /// Whether to skip the lookup of the name: the draft can't be published if the name is taken.
    ///
    /// A lookup saves copying the contents if the name is taken. But looking up a nonexistent name waits for all
    /// threads that create entries in the folder, and takes longer than copying a few bytes. After one name was taken,
    /// the next is looked up first: during an import, all of them may be taken.
    private func isTakenForFree(_ template: ItemTemplate, _ contents: ItemContents?) -> Bool {
        template.kind == .file && (contents?.size ?? 0) <= Self.fewBytes && abilities.renamesExactly
            && abilities.isCaseSensitive && !wasNameTaken.withLock { $0 }
    }

    private static let fewBytes: Int64 = 64 << 10

    private func draft(
        _ template: ItemTemplate, _ fields: ItemFields, _ contents: ItemContents?, in folder: OpenFolder,
        _ flag: CancellationFlag
    ) throws(RemoteStoreError) -> Draft {
        var metadata = template.metadata
        if !fields.contains(.mode) { metadata.mode = nil }
        metadata.mode = metadata.mode ?? (template.kind == .folder ? 0o755 : 0o644)
        let dressed = metadata
        let dressing = { (file: OpenDescriptor) throws(Errno) in
            if self.abilities.keepsAttributes {
                try SystemCalls.setAttribute(
                    MetadataXattrs.template, Array(template.identifier.rawValue.utf8), of: file)
            }
            let refused = try self.dress(file, dressed, fields.union(.mode))
            return refused.intersection(fields)
        }
        switch template.kind {
        case .file: return try draftFile(contents, in: folder, isNamed: false, flag, dressing)
        case .folder: return try draftFolder(in: folder, dressing)
        case .symlink:
            var draft = try draftSymlink(to: template.target ?? [], in: folder)
            draft.refused = try dressSymlink(draft.name, template.metadata, fields, in: folder)
            return draft
        }
    }

    /// A symlink's only metadata is its modification time.
    func dressSymlink(
        _ name: FileName, _ metadata: ItemMetadata, _ fields: ItemFields, in folder: OpenFolder
    ) throws(RemoteStoreError) -> ItemFields {
        if fields.contains(.modificationDate), let date = metadata.modificationDate {
            try at(path(folder.names)) { () throws(Errno) in
                try SystemCalls.setModificationDate(date, of: name, in: folder.handle)
            }
        }
        return fields.intersection(.metadata).subtracting(.modificationDate)
    }

    /// Records a new entry, watches a new folder, and returns the item.
    private func arrived(
        _ place: EntryPlace, _ folder: OpenFolder, _ draft: Draft
    ) throws(RemoteStoreError) -> Item {
        try at(path(folder.names + [place.name])) { () throws(Errno) in
            if let file = draft.file {
                let status = try status(of: file, at: place)
                let key = ItemKey(status, at: place)
                if status.kind == .folder { try watches.add(file, key) }
                index.withLock {
                    if status.kind == .folder { $0.list(key) }
                    $0.record(status, at: place)
                }
                return try describe(place, status, file)
            }
            let status = try status(at: place, in: folder.handle)
            index.withLock { $0.record(status, at: place) }
            return try describe(place, status, in: folder.handle)
        }
    }

    /// The item at a place, as far as it can be determined.
    func occupant(_ place: EntryPlace, _ folder: OpenFolder) throws(RemoteStoreError) -> Located? {
        do throws(Errno) {
            var status = try self.status(at: place, in: folder.handle)
            // Occupies the name although it is not an item, for example a device.
            let isExact = try isExactly(place.name, in: folder.handle)
            if isForeign(status) || !isExact { status.kind = nil }
            return Located(
                key: ItemKey(status, at: place), folder: folder.handle, place: place, status: status,
                names: folder.names + [place.name])
        } catch .noSuchFileOrDirectory {
            return nil
        } catch {
            throw failure(error, at: path(folder.names))
        }
    }

    /// Adopts an existing entry as the item to create, if that is allowed and both are equal.
    private func adopt(
        _ other: Located, _ template: ItemTemplate, _ contents: ItemContents?, _ options: CreateOptions,
        _ flag: CancellationFlag
    ) throws(RemoteStoreError) -> StoreResult {
        // A device or a socket is not an item, but it occupies the name.
        guard other.status.kind != nil else { throw .filenameCollision(nil) }
        let item = try describeOccupant(other)
        guard options.contains(.mayAlreadyExist), try isEqual(other, template, contents, flag) else {
            throw .filenameCollision(item)
        }
        guard item.identifier == other.key.identifier else { throw .serverUnreachable }
        index.withLock { $0.find(other.status, at: other.place) }
        return StoreResult(item: item)
    }

    private func isEqual(
        _ other: Located, _ template: ItemTemplate, _ contents: ItemContents?, _ flag: CancellationFlag
    ) throws(RemoteStoreError) -> Bool {
        guard other.status.kind == template.kind else { return false }
        let path = path(other.names)
        switch template.kind {
        case .folder: return true
        case .symlink:
            return try at(path) { () throws(Errno) in
                try SystemCalls.target(of: other.place.name, in: other.folder) == template.target
            }
        case .file:
            guard let contents, contents.size == other.status.size else { return false }
            let file = try at(path) { () throws(Errno) in
                try SystemCalls.open(other.place.name, in: other.folder, O_RDONLY | O_NONBLOCK)
            }
            return try ContentCopy.isEqual(contents, to: file, path, flag)
        }
    }

    func checkName(_ name: FileName) throws(RemoteStoreError) {
        guard name.isValid else { throw .cannotSynchronize("invalid file name") }
        if let fault = abilities.fault(of: name) {
            throw .cannotSynchronize("the store's filesystem cannot hold this name: \(fault)")
        }
        if TemporaryName.matches(name) {
            throw .cannotSynchronize("names starting with .replica-tmp- are reserved for the store")
        }
    }
}
