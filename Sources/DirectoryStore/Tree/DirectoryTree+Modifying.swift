import CLinux
import Glibc
import ReplicaModel
import SystemPackage
import Threads

extension DirectoryTree {
    func modify(
        _ template: ItemTemplate, _ base: ItemVersion, _ fields: ItemFields, _ contents: ItemContents?,
        _ flag: CancellationFlag
    ) throws(RemoteStoreError) -> StoreResult {
        let found = try locate(template.identifier)
        let present = try describe(found)
        // The root is the user's own directory: the store changes neither its place nor its attributes.
        if found.key == .root { return StoreResult(item: present, stillPending: fields) }
        if contents != nil {
            guard present.kind == .file else { throw .cannotSynchronize("only files have contents") }
            guard present.version.content == base.content else { throw .versionConflict(present) }
            if try mayBeRewritten(found, since: base) { throw .versionConflict(present) }
        }
        let folder = try targetFolder(found, template, fields)
        let name = fields.contains(.filename) ? template.filename : found.place.name
        try checkName(name)
        let change = Change(
            template: template, base: base, fields: fields, old: found, present: present, folder: folder,
            place: EntryPlace(parent: folder.key, name: name))
        let places = [(found.place, found.folder), (change.place, folder.handle)]
        return try changing(places, moving: try movedFolder(change)) { () throws(RemoteStoreError) in
            var result = try carryOut(change, contents, flag)
            if contents == nil { result.shouldFetchContent = !change.left(result.item) }
            return result
        }
    }

    /// A folder that gets another parent: rename(2) changes its `..`.
    private func movedFolder(_ change: Change) throws(RemoteStoreError) -> (key: ItemKey, handle: OpenDescriptor)? {
        guard change.present.kind == .folder, change.place.parent != change.old.place.parent else { return nil }
        return try at(path(change.old.names)) { () throws(Errno) in
            (change.old.key, try SystemCalls.openFolder(change.old.place.name, in: change.old.folder))
        }
    }

    /// Whether a file may have been rewritten since this version, even if size and time are unchanged.
    private func mayBeRewritten(_ found: Located, since base: ItemVersion) throws(RemoteStoreError) -> Bool {
        guard let changed = FileStatus.changeTime(of: base), changed != found.status.changed else { return false }
        try drain()
        return index.withLock { $0.writes.has(found.key, since: changed) }
    }

    /// A modify call after its items were found.
    private struct Change {
        var template: ItemTemplate
        var base: ItemVersion
        var fields: ItemFields
        var old: Located
        var present: Item
        var folder: OpenFolder
        var place: EntryPlace
        var names: [FileName] { folder.names + [place.name] }

        /// Whether an item has the base's content, possibly with a different date.
        func left(_ item: Item?) -> Bool {
            guard present.kind == .file else { return true }
            var status = old.status
            guard status.contentVersion == base.content else { return false }
            if fields.contains(.modificationDate) {
                status.modified = template.metadata.modificationDate ?? status.modified
            }
            return item?.version.content == status.contentVersion
        }
    }

    private func targetFolder(
        _ found: Located, _ template: ItemTemplate, _ fields: ItemFields
    ) throws(RemoteStoreError) -> OpenFolder {
        if fields.contains(.parent), template.parent != found.place.parent.identifier {
            return try openFolder(template.parent)
        }
        return OpenFolder(key: found.place.parent, handle: found.folder, names: found.names.dropLast())
    }

    private func carryOut(
        _ change: Change, _ contents: ItemContents?, _ flag: CancellationFlag
    ) throws(RemoteStoreError) -> StoreResult {
        var refused: ItemFields = []
        if let contents {
            // Written before any rename: if the disk is full, nothing changes.
            let draft = try draft(change, contents, flag)
            do {
                try move(change)
                try exchange(draft, change)
            } catch {
                discard(draft)
                throw error
            }
            refused = draft.refused
        } else {
            try move(change)
            refused = try dressInPlace(change)
        }
        let item = try settled(change, isNewFile: contents != nil)
        return StoreResult(item: item, stillPending: refused.intersection(change.fields))
    }

    /// Creates the new contents with the old file's metadata, except for the changed fields.
    private func draft(
        _ change: Change, _ contents: ItemContents, _ flag: CancellationFlag
    ) throws(RemoteStoreError) -> Draft {
        var metadata = change.present.metadata
        metadata.take(change.fields, from: change.template.metadata)
        let wanted = metadata
        let fields = change.fields.union([.mode, .tags, .lastUsedDate, .favoriteRank, .extendedAttributes])
        let mark = try mark(of: change.old)
        return try draftFile(contents, in: change.folder, flag) { (file) throws(Errno) in
            let status = change.old.status
            // Only root may change owners; for other users, the new file belongs to them as the old one did.
            _ = fchown(file.raw, status.owner, status.group)
            try InheritedIdentity.give(change.old.key, to: file)
            if let mark {
                try SystemCalls.setAttribute(MetadataXattrs.template, mark, of: file)
            }
            // Fields that can't be stored are ignored, and reported only if this call changes them.
            let refused = try self.dress(file, wanted, fields.intersection(self.abilities.fields.union(change.fields)))
            try self.makeOther(file, than: change)
            return refused
        }
    }

    /// Where only size and time distinguish contents, gives new content a new time.
    private func makeOther(_ file: OpenDescriptor, than change: Change) throws(Errno) {
        guard memory != nil else { return }
        let (former, now) = (change.old.status.modified, try SystemCalls.status(of: file).modified)
        let isOther = change.fields.contains(.modificationDate) ? now != former : now > former
        guard !isOther else { return }
        let later = former.nanoseconds.saturatingAdd(abilities.timeGrain)
        try SystemCalls.setModificationDate(Timestamp(nanoseconds: later), of: file)
    }

    /// The template that an item was created from; it is kept so that the item is still recognized after a change.
    private func mark(of found: Located) throws(RemoteStoreError) -> [UInt8]? {
        try at(path(found.names)) { () throws(Errno) in
            let file = try SystemCalls.open(found.place.name, in: found.folder, O_RDONLY | O_NONBLOCK)
            return try SystemCalls.attribute(MetadataXattrs.template, of: file)
        }
    }

    private func move(_ change: Change) throws(RemoteStoreError) {
        guard change.place != change.old.place else { return }
        do throws(Errno) {
            try rename(change)
        } catch .fileExists {
            guard let other = try occupant(change.place, change.folder) else { throw .serverUnreachable }
            throw .filenameCollision(other.status.kind == nil ? nil : try describeOccupant(other))
        } catch .invalidArgument {
            throw .cannotSynchronize("\(path(change.old.names)): a folder can't be moved into itself")
        } catch {
            throw failure(error, at: path(change.old.names))
        }
        // Another item may have taken the name between the lookup and the move: that one is moved back.
        let arrived = try occupant(change.place, change.folder)
        guard arrived?.status.inode == change.old.status.inode else {
            try at(path(change.old.names)) { () throws(Errno) in try renameBack(change) }
            throw .serverUnreachable
        }
    }

    private func rename(_ change: Change) throws(Errno) {
        try noting(change.old.key, at: change.place) { () throws(Errno) in
            try give(
                change.place.name, in: change.folder.handle, to: change.old.place.name, in: change.old.folder)
        }
    }

    private func renameBack(_ change: Change) throws(Errno) {
        try noting(change.old.key, at: change.old.place) { () throws(Errno) in
            try give(
                change.old.place.name, in: change.old.folder, to: change.place.name, in: change.folder.handle)
        }
    }

    /// Where items are identified by places, no listing may run between a rename and its record.
    private func noting(_ key: ItemKey, at place: EntryPlace, _ rename: () throws(Errno) -> Void) throws(Errno) {
        guard let memory else { return try rename() }
        try index.withLock { _ throws(Errno) in
            try rename()
            memory.move(key, to: place)
        }
    }

    /// Exchanges the draft with the file and checks the replaced file: only the base may be lost.
    private func exchange(_ draft: Draft, _ change: Change) throws(RemoteStoreError) {
        guard abilities.renamesExactly else { return try replace(draft, change) }
        let folder = change.folder.handle
        do {
            try SystemCalls.rename(draft.name, in: folder, to: change.place.name, in: folder, flags: CL_RENAME_EXCHANGE)
        } catch .noSuchFileOrDirectory {
            throw absence(of: change.old.key)
        } catch {
            throw failure(error, at: path(change.names))
        }
        let out = try at(path(change.names)) { () throws(Errno) in
            try SystemCalls.status(of: draft.name, in: folder)
        }
        let isBase = contentVersion(of: out) == change.present.version.content
        if isBase, memory == nil || out.inode == change.old.status.inode {
            return try at(path(change.names)) { () throws(Errno) in try SystemCalls.unlink(draft.name, in: folder) }
        }
        try at(path(change.names)) { () throws(Errno) in
            do throws(Errno) {
                try SystemCalls.rename(
                    draft.name, in: folder, to: change.place.name, in: folder, flags: CL_RENAME_EXCHANGE)
            } catch .noSuchFileOrDirectory {
                // Another program deleted our file immediately; its own file still gets its name back.
                try SystemCalls.rename(draft.name, in: folder, to: change.place.name, in: folder)
            }
        }
        throw .versionConflict(try occupant(change.place, change.folder).map(describeOccupant))
    }

    /// The error for an item that is not where it was found: it is gone, or the next attempt finds it at another place.
    private func absence(of key: ItemKey) -> RemoteStoreError {
        do {
            _ = try locate(key.identifier)
            return .serverUnreachable
        } catch {
            return error
        }
    }

    /// Replaces the file where two entries cannot be exchanged.
    private func replace(_ draft: Draft, _ change: Change) throws(RemoteStoreError) {
        let isReplaced: Bool
        do {
            isReplaced = try replace(
                change.place, in: change.folder.handle, by: draft.name, ifContentIs: change.present.version.content)
        } catch .noSuchFileOrDirectory {
            throw absence(of: change.old.key)
        } catch {
            throw failure(error, at: path(change.names))
        }
        guard isReplaced else {
            throw .versionConflict(try occupant(change.place, change.folder).map(describeOccupant))
        }
    }

    private func dressInPlace(_ change: Change) throws(RemoteStoreError) -> ItemFields {
        let fields = change.fields.intersection(.metadata)
        guard !fields.isEmpty else { return [] }
        if change.present.kind == .symlink {
            return try dressSymlink(change.place.name, change.template.metadata, fields, in: change.folder)
        }
        return try at(path(change.names)) { () throws(Errno) in
            let file = try SystemCalls.openAsOwner(change.place.name, in: change.folder.handle)
            // If the content is not the base's, its date is not set: that would hide the difference.
            let status = try self.status(of: file, at: change.place)
            guard memory != nil || status.inode == change.old.status.inode else { throw .noSuchFileOrDirectory }
            if fields.contains(.mode), let mode = change.template.metadata.mode {
                readOnlyFolders.note(mode & 0o1777, of: change.old.key)
            }
            let isOther = status.kind == .file && status.contentVersion != change.base.content
            let withheld = isOther ? fields.intersection(.modificationDate) : []
            return try dress(file, change.template.metadata, fields.subtracting(withheld)).union(withheld)
        }
    }

    /// Records the item's new state, and returns it.
    /// - Throws: ``RemoteStoreError/serverUnreachable`` if another item has taken its place. The next attempt finds the
    ///   item's new place.
    private func settled(_ change: Change, isNewFile: Bool) throws(RemoteStoreError) -> Item {
        let status = try at(path(change.names)) { () throws(Errno) in
            try index.withLock { index throws(Errno) -> FileStatus? in
                let status = try self.status(at: change.place, in: change.folder.handle)
                let key = ItemKey(status, at: change.place)
                if key != change.old.key {
                    guard memory != nil || status.inode == change.old.status.inode else { return nil }
                    index.forget(change.old.key)
                }
                index.record(status, at: change.place)
                if isNewFile { index.noteNewFile(of: key) }
                return status
            }
        }
        guard let status else { throw .serverUnreachable }
        let item = try at(path(change.names)) { () throws(Errno) in
            try describe(change.place, status, in: change.folder.handle)
        }
        guard item.identifier == ItemKey(status, at: change.place).identifier else { throw .serverUnreachable }
        return item
    }
}
