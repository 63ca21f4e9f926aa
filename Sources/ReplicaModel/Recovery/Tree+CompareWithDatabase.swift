internal import Glibc
internal import SystemPackage

/// The backing tree is what the user has; the database is what we know about it. A comparison updates the second.
extension Tree {
    /// Compares a loaded folder with the backing tree.
    func compareEntries(of folder: Node) throws(ReplicaError) {
        guard folder.materialization == .whole || mayHaveLostFiles else { return }
        let below = try descriptor(of: folder)
        let listing = try errnos { () throws(Errno) in try BackingFolderListing(of: below, mark: mark) }
        if folder.materialization != .whole {
            guard !listing.lines.isEmpty else { return }
            // It was listed after its last record: its entries may be the user's.
            folder.materialization = .whole
            askAgain(for: folder)
        }
        var strangers: [BackingFolderListing.Line] = []
        var found: Set<FileName> = []
        for line in listing.lines {
            if let node = folder.children?[line.name], try isStill(node, line) {
                guard node.base != nil || !line.isDataless else {
                    // Its content is in the store, which the database doesn't know yet: the next listing reports it.
                    drop(node)
                    askAgain(for: folder)
                    strangers.append(line)
                    continue
                }
                found.insert(line.name)
                refresh(node, line, in: folder)
                linkNames(of: node, line)
            } else {
                strangers.append(line)
            }
        }
        // Missing entries come first, so that they are recognized at their new places.
        let lost = (folder.children ?? [:]).values.filter { !found.contains($0.name) }
        for node in lost.sorted(by: { $0.number < $1.number }) { markMissing(node) }
        for line in strangers.sorted(by: { $0.name < $1.name }) { try adopt(line, in: folder) }
    }

    /// Whether the entry in the backing tree is still the node's file, even if it was rewritten.
    private func isStill(_ node: Node, _ line: BackingFolderListing.Line) throws(ReplicaError) -> Bool {
        guard node.flags.contains(.special) == (line.status.kind == nil) else { return false }
        guard let kind = line.status.kind else { return true }
        guard node.kind == kind else { return false }
        let fingerprint = FileFingerprint(line.status)
        if node.fingerprint.isSameFile(as: fingerprint) { return true }
        // A file that was written next to it and renamed over it is the same item. A folder that was replaced is
        // another item, and so is a file that the store knows as another item.
        guard kind == .file else { return false }
        let rows = try reading { try ItemRow.withInode(fingerprint.inode, in: $0) }
        let others = rows.filter { $0.number != node.number.rawValue && $0.fingerprint.isSameFile(as: fingerprint) }
        // A placeholder in the place of a complete file belongs to another item: it was made while the file was being
        // moved away.
        if others.isEmpty { return !line.isDataless || node.materialization != .whole }
        return node.materialization == .whole
            && others.allSatisfy { $0.base == nil && !$0.flags.contains(.createSent) }
    }

    private func markMissing(_ node: Node) {
        if let parent = node.parent, parent.children?[node.name] === node { parent.children?[node.name] = nil }
        scan?.markMissing(node)
    }

    private func refresh(_ node: Node, _ line: BackingFolderListing.Line, in folder: Node) {
        var fingerprint = FileFingerprint(line.status)
        let isOtherFile = fingerprint.inode != node.fingerprint.inode
        defer {
            node.fingerprint = fingerprint
            note(node)
            let isLinkLost =
                items[node.inodeNumber].map { $0 !== node && $0.fingerprint.inode != fingerprint.inode } ?? false
            if isOtherFile || isLinkLost { separate(node) }
        }
        guard node.kind == .file, !node.flags.contains(.special) else {
            if node.kind == .folder { refreshAttributes(node, fingerprint) }
            // An unrecorded call may already have created it in the store.
            if mayHaveLostFiles, node.base == nil { node.flags.insert(.mayAlreadyExist) }
            return
        }
        if line.isDataless, isOtherFile, let base = node.base { return keepUnknownPlaceholder(node, base, fingerprint) }
        if line.isEvicting, let end = makePlaceholder(of: node, line, in: folder) {
            fingerprint = end
            return
        }
        if mayHaveLostFiles {
            fingerprint = findAfterPowerCut(node, line, in: folder)
            return
        }
        if line.isDataless {
            guard node.base != nil else { return }
            if isResizedBelow(node, line) {
                // If it can't be restored now, the recorded size stays, and the next scan tries again.
                fingerprint = restorePlaceholder(of: node, line, in: folder) ?? node.fingerprint
                return
            }
            refreshAttributes(node, fingerprint)
            // Writes of a fetch preserve the modification time.
            if fingerprint.modified != node.fingerprint.modified { edit(node, .modificationDate) }
            if node.materialization == .whole { node.ranges = RangeSet64() }
            if node.ranges.isEmpty { node.materialization = .dataless }
            // Truncated before all of it was local: this is an edit although nothing was written.
            if fingerprint.size < (node.base?.size ?? 0) { edit(node, [.contents, .modificationDate]) }
            return
        }
        let wasDataless = node.materialization != .whole
        node.materialization = .whole
        node.ranges = RangeSet64()
        // A fetch preserves the size and the modification time; any other change of content does not.
        if fingerprint.hasOtherContent(than: node.fingerprint)
            || !wasDataless && fingerprint.changed != node.fingerprint.changed
        {
            edit(node, ItemFields.ofNew(.file).subtracting(.place))
        } else {
            refreshAttributes(node, fingerprint)
        }
    }

    /// A placeholder that replaced the file stands for content of the store that the database does not know. It is
    /// updated when the store reports the item.
    private func keepUnknownPlaceholder(_ node: Node, _ base: Base, _ fingerprint: FileFingerprint) {
        var base = base
        base.version.content = ""
        base.size = fingerprint.size
        setBase(base, of: node)
        node.materialization = .dataless
        node.ranges = RangeSet64()
        if let folder = node.parent { askAgain(for: folder) }
    }

    /// Detects changes of attributes that have no timestamp of their own.
    private func refreshAttributes(_ node: Node, _ fingerprint: FileFingerprint) {
        if mayHaveLostFiles, node.flags.contains(.doubtful), fingerprint.mode != node.fingerprint.mode {
            return distrustMetadata(of: node)
        }
        // A new entry changes both times of a folder.
        let mayDiffer =
            fingerprint.changed != node.fingerprint.changed
            && (node.kind == .file || fingerprint.changed != fingerprint.modified)
        if fingerprint.mode != node.fingerprint.mode || mayDiffer && scan?.mode == .afterCrash {
            edit(node, [.mode, .unobservable])
        }
    }

    /// Finds out which item an entry is whose name is unknown.
    private func adopt(_ line: BackingFolderListing.Line, in folder: Node) throws(ReplicaError) {
        let kind = line.status.kind
        // At first only the other names of a file can be known.
        let owner = scan?.knewNothing == true && line.status.links < 2 ? nil : try owner(of: line)
        if let owner, isMissing(owner) {
            scan?.forget(owner)
            let known = owner.fingerprint
            noteMove(of: owner, to: line.name, in: folder)
            owner.fingerprint = known
            refresh(owner, line, in: folder)
            return
        }
        if line.isDataless {
            if try findMovedPlaceholder(line, in: folder) { return }
            return try takeOutStray(line, in: folder)
        }
        if mayHaveLostFiles { try forgetRepeatedDeletion(of: line) }
        let node = addNode(in: folder, name: line.name, kind: kind ?? .file)
        node.fingerprint = FileFingerprint(line.status)
        if kind == nil { node.flags.insert(.special) }
        if let owner, kind == .file { items.link(node, to: owner) }
        if line.status.links > 1, kind == .file { scan?.linkedBelow[line.status.inode] = node }
        if scan?.mode != .afterCrash { node.flags.insert(.mayAlreadyExist) }
        if scan?.mode == .importing { node.flags.insert(.importing) }
        if mayHaveLostFiles { node.flags.insert(.doubtful) }
        edit(node, ItemFields.ofNew(node.kind))
        // Files that were last changed long before the import need no debouncing.
        if scan?.mode == .importing { node.changedAt = min(node.changedAt, Double(node.fingerprint.changed) / 1e9) }
    }

    /// Takes out a placeholder that was never recorded. It contains nothing of the user's and is removed, unless there is data in it: then it is a
    /// copy of a placeholder, with its mark, that a program may have filled, and goes to `kept/`.
    private func takeOutStray(_ line: BackingFolderListing.Line, in folder: Node) throws(ReplicaError) {
        let place = BackingPath(folder: try descriptor(of: folder), name: line.name)
        guard let folders = scan?.folders else { return }
        scan?.strays.insert(ItemPlace(folder: folder.number, name: line.name))
        try errnos { () throws(Errno) in
            if place.mayHoldData {
                try folders.keep(place, of: line.status.inode, line.name)
            } else {
                _ = place.name.withCString { unlinkat(place.folder, $0, 0) }
            }
        }
    }

    /// Restores the item of a placeholder. A file that has the item's former name was taken to be the item, as if it
    /// had been saved over it; instead, the item is where its placeholder is, and that file is new.
    /// - Returns: Whether the placeholder belongs to an item.
    private func findMovedPlaceholder(_ line: BackingFolderListing.Line, in folder: Node) throws(ReplicaError) -> Bool {
        let fingerprint = FileFingerprint(line.status)
        let rows = try reading { try ItemRow.withInode(fingerprint.inode, in: $0) }
        guard let row = rows.first(where: { $0.fingerprint.isSameFile(as: fingerprint) && $0.kind == .file }),
            let base = row.base,
            let other = items[ItemNumber(row.number)], !other.isDeleted, other.base == base
        else { return false }
        (other.sent, other.sentContent) = (nil, nil)
        setBase(nil, of: other)
        edit(other, ItemFields.ofNew(.file))
        let node = addNode(in: folder, name: line.name, kind: .file)
        node.fingerprint = row.fingerprint
        node.materialization = row.materialization
        node.ranges = row.ranges
        node.dirty = row.dirty
        setBase(base, of: node)
        node.comparePlace()
        refresh(node, line, in: folder)
        return true
    }

    /// Links the names of one file to each other, if some of them are new.
    private func linkNames(of node: Node, _ line: BackingFolderListing.Line) {
        guard line.status.links > 1, line.status.kind == .file else { return }
        guard let other = scan?.linkedBelow[line.status.inode] else {
            scan?.linkedBelow[line.status.inode] = node
            return
        }
        if other.inodeNumber != node.inodeNumber, other.isNew, other.lookups == 0 { items.link(other, to: node) }
    }

    /// The item to which this backing file belonged when it was last seen.
    private func owner(of line: BackingFolderListing.Line) throws(ReplicaError) -> Node? {
        let (fingerprint, kind) = (FileFingerprint(line.status), line.status.kind)
        if let lost = scan?.missingNode(fingerprint, kind) { return lost }
        if let other = scan?.linkedBelow[fingerprint.inode], other.fingerprint.isSameFile(as: fingerprint) {
            return other
        }
        let rows = try reading { try ItemRow.withInode(fingerprint.inode, in: $0) }
        for row in rows where row.fingerprint.isSameFile(as: fingerprint) && row.kind == kind {
            if kind == .folder || line.status.links == 1 {
                if let node = loadFromElsewhere(row) { return node }
                continue
            }
            if let node = try find(ItemNumber(row.number)), node.fingerprint.isSameFile(as: fingerprint) { return node }
            if let node = scan?.missing[ItemNumber(row.number)] { return node }
        }
        return nil
    }

    /// Loads the node of a row whose only file was found elsewhere, without visiting its old place, which may have
    /// moved too.
    private func loadFromElsewhere(_ row: ItemRow) -> Node? {
        let number = ItemNumber(row.number)
        guard !unrecorded.removed.contains(number), items[number] !== root else { return nil }
        let node = items[number] ?? row.makeNode(parent: nil, now: clock.now())
        if items[number] == nil { insert(node) }
        // If it was already found under its own name, it has another file now.
        guard !node.isDeleted, node.fingerprint.isSameFile(as: row.fingerprint) else { return nil }
        markMissing(node)
        return node
    }
}

extension BackingPath {
    /// Whether the file contains data, or that can't be determined.
    var mayHoldData: Bool {
        do throws(Errno) {
            let file = try open(O_RDONLY | O_NONBLOCK)
            defer { close(file) }
            var ranges = DataRanges(of: file, in: 0..<Int64.max)
            return ranges.next() != nil
        } catch {
            return error != .noSuchFileOrDirectory
        }
    }
}
