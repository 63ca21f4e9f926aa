internal import CLinux
internal import Glibc
internal import SystemPackage

extension Tree {
    /// All folders were compared: what is still missing is gone, and `scan` says what that means.
    func finishScan() {
        for node in scan.missing.values.sorted(by: { (depth($0), $0.number) < (depth($1), $1.number) })
        where scan.isMissing(node) {
            switch explanation(of: node) {
            case _ where scan.isCareful:
                if settleRenamedOver(node) { continue }
                // What the store may have of it, it lists.
                node.base == nil ? forgetUntilListed(node) : bringBack(node)
            case .takenAway: dropAll(node)
            case .replaced(let other): replace(other, by: node)
            case .renamed(let other): take(other, as: node)
            case .removed: makeTombstones(node)
            }
        }
        scan.forgetFound()
    }

    /// Why an item is not where it was.
    private enum Explanation {
        case removed
        /// The store's change, which is noted and was perhaps being applied, takes it from the tree.
        case takenAway
        /// The store's change put a file with its newer content there.
        case replaced(by: Node)
        /// What looked like a new name of its file is the item's.
        case renamed(to: Node)
    }

    private func explanation(of node: Node) -> Explanation {
        if let other = newName(of: node) { return .renamed(to: other) }
        guard let base = node.base else { return .removed }
        do throws(ReplicaError) {
            guard let change = try reading({ try Incoming.of(base.identifier, in: $0) }) else { return .removed }
            // Removed on both sides, if it was: to say so does no harm.
            guard let item = change.item else { return .removed }
            let parent = try find(item.parent)
            guard let parent, !parent.isDeleted, parent.materialization == .whole else {
                // Where we had it, or sent it, the store says of the past: that took it nowhere.
                return parent.map { isOurPlace($0, item.filename, of: node) } == true ? .removed : .takenAway
            }
            if scan.strays.contains(ItemPlace(folder: parent.number, name: item.filename)) { return .takenAway }
            guard node.kind == .file, let other = try child(item.filename, of: parent) else { return .removed }
            // What moves over another name of its file is that name from then on.
            if other.fingerprint.isSameFile(as: node.fingerprint) { return .takenAway }
            guard other.isContent(of: item) else { return .removed }
            return try isLeftBehind(other) ? .replaced(by: other) : .removed
        } catch {
            return .takenAway  // Without a look at the database nothing is deleted in the store.
        }
    }

    /// A name of an item's file that the store was never told of.
    private func newName(of node: Node) -> Node? {
        var others = items.names(of: node)
        // What was in a folder that is gone was not looked at when its other names were met.
        if let met = scan.linkedBelow[node.fingerprint.inode], met.fingerprint.isSameFile(as: node.fingerprint) {
            others += items.names(of: met)
        }
        return others.first { $0 !== node && !scan.isMissing($0) && $0.parent != nil && $0.isUnknown }
    }

    /// Whether nothing in the store stands for the node: it never did, or is said to be gone.
    private func isLeftBehind(_ node: Node) throws(ReplicaError) -> Bool {
        guard let base = node.base else { return node.isUnknown }
        guard let change = try reading({ try Incoming.of(base.identifier, in: $0) }) else { return false }
        return change.item == nil
    }

    private func isOurPlace(_ folder: Node, _ name: FileName, of node: Node) -> Bool {
        if let base = node.base, base.parent == folder.number, base.name == name { return true }
        return node.sent.map { $0.parent == folder.number && $0.name == name } ?? false
    }

    /// Makes a file that the scan took for another the item that it is, with the store's content.
    private func replace(_ other: Node, by node: Node) {
        take(other, as: node)
        node.dirty.remove(.contents)
        note(node)
    }

    /// Makes a file that the scan took for another the item that it is.
    private func take(_ other: Node, as node: Node) {
        guard let parent = other.parent else { return }
        let (name, fingerprint, materialization) = (other.name, other.fingerprint, other.materialization)
        let names = items.names(of: other).filter { $0 !== other && $0 !== node }
        drop(other)
        scan.forget(node)
        if scan.linkedBelow[fingerprint.inode] === other { scan.linkedBelow[fingerprint.inode] = node }
        if let first = names.first, first.inodeNumber != node.inodeNumber { items.link(node, to: first) }
        move(node, to: name, in: parent)
        node.fingerprint = fingerprint
        node.materialization = materialization
        note(node)
    }

    /// Forgets a node and all that was below it, without a word to the store.
    private func dropAll(_ node: Node) {
        dropEntries(of: node)
        drop(node)
    }

    private func dropEntries(of folder: Node) {
        guard folder.kind == .folder else { return }
        do throws(ReplicaError) {
            try children(of: folder)
        } catch {
            // What is known of it is loaded even where it cannot be compared.
        }
        for child in (folder.children ?? [:]).values.sorted(by: { $0.number < $1.number }) { dropAll(child) }
    }

    private func depth(_ node: Node) -> Int {
        var count = 0
        var here = node.parent
        while let parent = here {
            count += 1
            here = parent.parent
        }
        return count
    }

    /// Buries a node and all that was below it.
    func makeTombstones(_ node: Node) {
        if node.kind == .folder {
            do throws(ReplicaError) {
                let children = try children(of: node)
                for child in children.values.sorted(by: { $0.number < $1.number }) { makeTombstones(child) }
            } catch {
                // Below a folder that cannot be loaded nothing is said to be deleted.
                return
            }
        }
        if node.kind == .file, let other = newName(of: node) { return take(other, as: node) }
        makeTombstone(node)
    }

    /// Absence is never taken for deletion (tenet 2): what power loss took is fetched again.
    private func bringBack(_ node: Node) {
        guard let folder = node.parent, folder.children?[node.name] == nil, node.kind != .symlink else {
            return forgetUntilListed(node)
        }
        do throws(ReplicaError) {
            let below = try descriptor(of: folder)
            if node.kind == .folder {
                dropEntries(of: node)
                try errnos { () throws(Errno) in
                    try node.name.withCString { (name) throws(Errno) in try Errno.check(mkdirat(below, name, 0o755)) }
                }
                node.children = [:]
            } else {
                try makePlaceholder(node.name, in: below, size: node.base?.size ?? 0, node.fingerprint)
                // It is no name of the file any more that it was one of.
                separate(node)
            }
            scan.forget(node)
            folder.children?[node.name] = node
            node.materialization = .dataless
            node.ranges = RangeSet64()
            node.dirty.remove(.contents)
            node.fingerprint = FileFingerprint()
            refreshFingerprint(node)
            // Its attributes are the store's to tell.
            distrustMetadata(of: node)
            note(node)
        } catch {
            forgetUntilListed(node)
        }
    }

    /// Lets go of an item without a word to the store, and has its folder listed anew.
    private func forgetUntilListed(_ node: Node) {
        if let folder = node.parent { askAgain(for: folder) }
        dropAll(node)
    }

    /// Has a listed folder listed again.
    func askAgain(for folder: Node) {
        folder.flags.insert(.needsListing)
        items.needsListing.insert(folder.number)
        pending.wake()
        note(folder)
    }

    /// Makes a file that stands for content that is not here: marked first, so that its zeros are never served.
    func makePlaceholder(_ name: FileName, in folder: Int32, size: Int64, _ fingerprint: FileFingerprint)
        throws(ReplicaError)
    {
        try errnos { () throws(Errno) in
            let file = try name.withCString { (text) throws(Errno) in
                try Errno.check(openat(folder, text, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
            }
            defer { close(file) }
            do throws(Errno) {
                try Errno.check(fsetxattr(file, OwnXattr.dataless, mark.value, mark.value.count, 0))
                try Errno.check(ftruncate(file, Int(size)))
                try Errno.check(fchmod(file, UInt32(fingerprint.mode == 0 ? 0o644 : fingerprint.mode)))
                let time = Timestamp(nanoseconds: fingerprint.modified).timespec
                try Errno.check(futimens(file, [time, time]))
            } catch {
                _ = name.withCString { unlinkat(folder, $0, 0) }
                throw error
            }
        }
    }
}

extension Node {
    /// Whether the store was never told of it.
    fileprivate var isUnknown: Bool { base == nil && !flags.contains(.createSent) && !isDeleted }

    /// Whether its file is as the store's change of `item` would have made it.
    fileprivate func isContent(of item: Item) -> Bool {
        guard kind == .file, fingerprint.size == item.size else { return false }
        return item.metadata.modificationDate.map { $0.nanoseconds == fingerprint.modified } ?? true
    }
}
