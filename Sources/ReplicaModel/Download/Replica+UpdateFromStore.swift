internal import CLinux
internal import Glibc
internal import SystemPackage
internal import Threads

/// The whole newer content of a file, in staging.
struct StagedContent: Sendable {
    var path: FilePath
    /// The version of these bytes.
    var version: String
    /// The metadata version that was current when it was fetched.
    var metadataVersion = ""
    /// Whether it replaces the local content after both were compared because of a power cut.
    var isPreferred = false
}

extension Replica {
    /// Updates a local item to the store's newer state. If a call for the item begins or is answered meanwhile, the rest
    /// is deferred.
    func carryOut(
        _ update: PlannedUpdate, _ item: Item, asked: UInt64, _ staged: StagedContent?
    ) throws(ReplicaError) -> Applied {
        guard case .update(let fields) = update.plan.down else { return .done }
        if let staged, staged.version != item.version.content { return .needsContent(update.number) }
        do throws(ReplicaError) {
            try makeChanges(of: update, fields, item, asked: asked, staged)
        } catch {
            let isOutdated = withTree { tree in tree.items[update.number].map { tree.isOutdated($0, asked: asked) } }
            guard isOutdated == true else { throw error }
            return .deferred
        }
        let (applied, masked) = try withTreeWaking { (tree) throws(ReplicaError) in
            tree.endUpdate(update, fields, item, asked: asked)
        }
        // Until now, readers got the old content, which passes through memory
        if fields.contains(.contents), staged == nil { presenter.withLock { $0 }?.invalidate(update.number) }
        // The mode that programs see follows the capabilities.
        if let masked { presenter.withLock { $0 }?.invalidate(masked) }
        return applied
    }

    private func makeChanges(
        of update: PlannedUpdate, _ fields: ItemFields, _ item: Item, asked: UInt64, _ staged: StagedContent?
    ) throws(ReplicaError) {
        if !fields.isDisjoint(with: .place) { try move(update.number, to: item, in: update.parent, asked: asked) }
        if fields.contains(.contents) {
            try replaceContent(update.number, item, fields, asked: asked, staged)
        } else if !fields.isDisjoint(with: .metadata) {
            try replaceMetadata(update.number, item, fields, asked: asked)
        }
    }

    private func replaceMetadata(
        _ number: ItemNumber, _ item: Item, _ fields: ItemFields, asked: UInt64
    ) throws(ReplicaError) {
        try presentTouch(number, PresentedCall.touchStatus) { (tree, node) throws(ReplicaError) in
            guard !tree.isOutdated(node, asked: asked) else { throw .errno(.resourceBusy) }
            tree.settle(node)
            // What was edited meanwhile is newer.
            let fields = fields.subtracting(node.dirty.intersection(.metadata))
            try tree.applyMetadata(item.metadata, fields, to: node)
            for name in tree.items.names(of: node) {
                tree.refreshFingerprint(name)
                // The other names are items of their own.
                if name !== node { tree.edit(name, [.mode, .modificationDate, .unobservable]) }
            }
        }
    }

    private func replaceContent(
        _ number: ItemNumber, _ item: Item, _ fields: ItemFields, asked: UInt64, _ staged: StagedContent?
    ) throws(ReplicaError) {
        let folders = self.folders
        let presenter = self.presenter.withLock { $0 }
        let (place, isOpen, isSeparated, inodeNumber) = try withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = tree.items[number], let parent = node.parent else {
                throw .errno(.noSuchFileOrDirectory)
            }
            tree.settle(node)
            // Detects writes that bypassed the mount.
            if node.materialization == .whole { _ = try tree.entry(of: node) }
            let holdsEdit = node.dirty.contains(.contents) && node.materialization == .whole
            guard !tree.isWritten(node), !holdsEdit, !tree.isOutdated(node, asked: asked) else {
                throw .errno(.resourceBusy)
            }
            let former = node.inodeNumber
            try tree.asOwner(of: [parent]) { () throws(ReplicaError) in
                try tree.exchangeFile(of: node, item, fields, staged, folders)
            }
            let place = ItemPlace(folder: parent.number, name: node.name)
            let isSeparated = node.inodeNumber != former
            if isSeparated, presenter != nil { tree.presentations.addUnreported([place]) }
            tree.presentations.beginContent(of: node.inodeNumber)
            return (place, node.opens > 0, isSeparated, node.inodeNumber)
        }
        defer { withTree { $0.presentations.endContent(of: inodeNumber) } }
        if isSeparated {
            // To the kernel, the name is one of the file that it was linked to: a write would go there.
            if let presenter { tell(presenter, of: [place]) }
        } else if isOpen {
            presenter?.invalidate(place.name, in: place.folder)
        }
        let size = item.size
        let call: (PresentedItem) -> PresentedCall = { .touchContent($0, size: size) }
        try presentTouch(number, call) { (_, _) in }
        presenter?.invalidate(number)
    }

    /// Makes a change together with a system call on the item, so that watchers are notified.
    private func presentTouch(
        _ number: ItemNumber, _ call: (PresentedItem) -> PresentedCall,
        _ change: @escaping (Tree, Node) throws(ReplicaError) -> Void
    ) throws(ReplicaError) {
        let (item, isSeen) = try withTreeWaking { (tree) throws(ReplicaError) in
            guard let node = tree.items[number] else { throw .errno(.noSuchFileOrDirectory) }
            let isWatched = node.lookups > 0 || (node.parent?.lookups ?? 0) > 0
            return (tree.presented(node), isWatched && node.kind != .symlink)
        }
        try present(call(item), isSeen: isSeen) { (tree) throws(ReplicaError) in
            guard let node = tree.items[number] else { throw .errno(.noSuchFileOrDirectory) }
            try change(tree, node)
            return node
        }
    }
}

extension Tree {
    /// Records that an item has the store's state.
    /// - Returns: Also the item's number if the mode that programs see may have changed.
    fileprivate func endUpdate(
        _ update: PlannedUpdate, _ fields: ItemFields, _ item: Item, asked: UInt64
    ) -> (Applied, masked: ItemNumber?) {
        // The node may have become another item meanwhile: the one that replaced it in the store.
        guard let node = items[update.number], node.base?.identifier == item.identifier else { return (.done, nil) }
        guard let folder = items[update.parent], !isOutdated(node, asked: asked) else { return (.deferred, nil) }
        let isOther = store.enforcesCapabilities && node.base?.capabilities != item.capabilities
        // What was edited meanwhile is still to be sent.
        if node.edits == update.edits { node.dirty = node.dirty.left(by: update.plan, fields) }
        adoptVersion(node, item, folder)
        return (.done, isOther ? node.inodeNumber : nil)
    }

    /// Replaces a node's file by the staged one, or by a placeholder of the store's newer content. Open descriptors
    /// keep the old file (MODEL.md#decisions) if any of its content was local; otherwise they are reopened.
    /// - Parameter fields: What is replaced. The other attributes stay; the modification date is that of the content.
    fileprivate func exchangeFile(
        of node: Node, _ item: Item, _ fields: ItemFields, _ staged: StagedContent?, _ folders: StateFolders
    ) throws(ReplicaError) {
        guard node.parent != nil else { throw .errno(.noSuchFileOrDirectory) }
        let former = try place(of: node)
        let (old, oldMode) = try errnos { () throws(Errno) in
            try former.hold { (file) throws(Errno) in
                let status = try file.status()
                return (status, try file.replicatedMode(status))
            }
        }
        var fingerprint = FileFingerprint(old)
        fingerprint.modified = (item.metadata.modificationDate ?? Timestamp(secondsSince1970: clock.wall())).nanoseconds
        // These are not the bytes that a local user granted the rights to.
        let mode = fields.contains(.mode) ? item.metadata.mode : nil
        fingerprint.mode = mode ?? store.privileges.replicated(oldMode)
        let staging = try errnos { () throws(Errno) in try folders.openStaging() }
        defer { close(staging) }
        let keptAt = keepsBytes(of: node, old, insteadOf: item)
        // After a crash the former bytes are found under this name.
        let fresh =
            keptAt == nil
            ? FileName("swap-\(node.number.rawValue)") : StateFolders.newerName(node.number, node.name)
        _ = fresh.withCString { unlinkat(staging, $0, 0) }
        if let staged {
            try errnos { () throws(Errno) in
                try Errno.check(
                    staged.path.withPlatformString { path in
                        fresh.withCString { renameat(AT_FDCWD, path, staging, $0) }
                    })
            }
        } else {
            try makePlaceholder(fresh, in: staging, size: item.size, fingerprint)
        }
        let place = BackingPath(folder: staging, name: fresh)
        let status = try errnos { () throws(Errno) in
            let status = try place.status()
            do throws(Errno) {
                try place.copyAttributes(as: former, old, fingerprint, isMarked: staged == nil && item.size > 0)
                let status = try place.status()
                try place.replace(former, old, of: node, folders, keptAt: keptAt)
                return status
            } catch {
                // Under this name the store's bytes would be kept.
                if try place.status().inode == status.inode { _ = fresh.withCString { unlinkat(staging, $0, 0) } }
                throw error
            }
        }
        let hasReaders = node.opens > 0 && node.materialization != .dataless
        let wasLinked = items.names(of: node).count > 1
        // The new file has the attributes of another one than the kernel knows, such as its owner.
        let isDressedAsOther = items.holder(of: node).kernelFile.map { $0 != FileIdentity(old) } ?? false
        node.materialization = staged == nil && item.size > 0 ? .dataless : .whole
        node.ranges = RangeSet64()
        if !node.flags.isDisjoint(with: .inDoubt) { endDoubt(node) }
        supersede(node, [.contents, .modificationDate])
        node.dirty.remove(.contents)
        // Immediately: a reader may hold page locks that presenting the change needs.
        node.base?.version.content = item.version.content
        node.base?.size = item.size
        separate(node)
        // Readers that wait for bytes of the old placeholder now wait for those of the new one, and the kernel gets its
        // attributes.
        node.kernelFile = FileIdentity(status)
        if hasReaders || node.lookups > 0 && (wasLinked || isDressedAsOther) { node.generation += 1 }
        node.fingerprint = FileFingerprint(status)
        let edited = node.dirty.intersection(.metadata)
        let attributes = fields.intersection(.metadata).subtracting(edited).union(.modificationDate)
        try applyMetadata(item.metadata, attributes, to: node)
        refreshFingerprint(node)
        note(node)
        want(node)
    }
}

extension ItemFields {
    /// The dirty fields that are still to be sent after an update of `fields`.
    fileprivate func left(by plan: Reconciliation, _ fields: ItemFields) -> ItemFields {
        let left = subtracting(fields.intersection(.contents))
        // A truncation of content that isn't local is not part of the plan: it is still to be sent.
        guard case .modify(let up) = plan.up else { return left.intersection(.contents) }
        return left.intersection(up.union([.place, .contents]))
    }
}

extension BackingPath {
    /// Gives the new file the local attributes of the old one.
    fileprivate func copyAttributes(
        as former: BackingPath, _ old: FileStatus, _ fingerprint: FileFingerprint, isMarked: Bool
    ) throws(Errno) {
        if !isMarked { try removeMark() }
        try hold { (file) throws(Errno) in
            try former.hold { (former) throws(Errno) in
                guard FileIdentity(try former.status()) == FileIdentity(old) else { throw .stale }
                try file.takeFlags(of: former)
                for name in try former.xattrNames() where name.hasPrefix("user.") && !OwnXattr.isHidden(name) {
                    try file.setXattr(name, to: try former.xattr(name))
                }
            }
            if geteuid() == 0 { try file.setOwner(old.user, old.group) }
            try file.setMode(UInt32(fingerprint.mode))
            let time = Timestamp(nanoseconds: fingerprint.modified).timespec
            try file.setTimes(accessed: time, modified: time)
        }
    }
}
