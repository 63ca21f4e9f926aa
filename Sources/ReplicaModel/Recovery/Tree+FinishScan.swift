internal import CLinux
internal import Glibc
internal import SystemPackage

extension Tree {
    /// Ends the comparison: what is still missing is gone, and the scan's mode decides what that means.
    func finishScan() {
        for node in (scan?.missing ?? [:]).values.sorted(by: { (depth($0), $0.number) < (depth($1), $1.number) })
        where isMissing(node) {
            switch explanation(of: node) {
            case _ where mayHaveLostFiles:
                if settleRenamedOver(node) { continue }
                // If the store has it, the next listing reports it.
                node.base == nil ? forgetUntilListed(node) : recreateDataless(node)
            case .takenAway: dropAll(node)
            case .replaced(let other): replace(other, by: node)
            case .renamed(let other): take(other, as: node)
            case .removed: makeTombstones(node)
            }
        }
        scan?.forgetFound()
    }

    /// Why an item is not in its place.
    private enum Explanation {
        case removed
        /// A change of the store that is noted, and was perhaps being applied, removes it from the tree.
        case takenAway
        /// A change of the store put a file with its newer content in its place.
        case replaced(by: Node)
        /// A file that was taken for a new name of its content is the item itself.
        case renamed(to: Node)
    }

    private func explanation(of node: Node) -> Explanation {
        if let other = newName(of: node) { return .renamed(to: other) }
        guard let base = node.base else { return .removed }
        do throws(ReplicaError) {
            guard let change = try reading({ try Incoming.of(base.identifier, in: $0) }) else { return .removed }
            // Possibly removed on both sides; reporting that again is harmless.
            guard let item = change.item else { return .removed }
            let parent = try find(item.parent)
            guard let parent, !parent.isDeleted, parent.materialization == .whole else {
                // The store reports a place that we know or sent ourselves, so it did not move the item away.
                return parent.map { isOurPlace($0, item.filename, of: node) } == true ? .removed : .takenAway
            }
            if scan?.strays.contains(ItemPlace(folder: parent.number, name: item.filename)) == true {
                return .takenAway
            }
            guard node.kind == .file, let other = try child(item.filename, of: parent) else { return .removed }
            // A file moved over another of its own names has that name from then on.
            if other.fingerprint.isSameFile(as: node.fingerprint) { return .takenAway }
            guard other.isContent(of: item) else { return .removed }
            return try isLeftBehind(other) ? .replaced(by: other) : .removed
        } catch {
            return .takenAway  // Nothing is deleted in the store if the database can't be read.
        }
    }

    /// A name of the item's file that the store doesn't know.
    private func newName(of node: Node) -> Node? {
        var others = items.names(of: node)
        // Entries of a folder that is gone were not compared when their other names were found.
        if let met = scan?.linkedBelow[node.fingerprint.inode], met.fingerprint.isSameFile(as: node.fingerprint) {
            others += items.names(of: met)
        }
        return others.first { $0 !== node && !isMissing($0) && $0.parent != nil && $0.isUnknown }
    }

    /// Whether the node has no counterpart in the store, because it never had one or because that was deleted.
    private func isLeftBehind(_ node: Node) throws(ReplicaError) -> Bool {
        guard let base = node.base else { return node.isUnknown }
        guard let change = try reading({ try Incoming.of(base.identifier, in: $0) }) else { return false }
        return change.item == nil
    }

    private func isOurPlace(_ folder: Node, _ name: FileName, of node: Node) -> Bool {
        if let base = node.base, base.parent == folder.number, base.name == name { return true }
        return node.sent.map { $0.parent == folder.number && $0.name == name } ?? false
    }

    /// Makes `node` take over a file that the scan took for another item, with the store's content.
    private func replace(_ other: Node, by node: Node) {
        take(other, as: node)
        node.dirty.remove(.contents)
        note(node)
    }

    /// Makes `node` take over a file that the scan took for another item.
    private func take(_ other: Node, as node: Node) {
        guard let parent = other.parent else { return }
        let (name, fingerprint, materialization) = (other.name, other.fingerprint, other.materialization)
        let names = items.names(of: other).filter { $0 !== other && $0 !== node }
        drop(other)
        scan?.forget(node)
        if scan?.linkedBelow[fingerprint.inode] === other { scan?.linkedBelow[fingerprint.inode] = node }
        if let first = names.first, first.inodeNumber != node.inodeNumber { items.link(node, to: first) }
        noteMove(of: node, to: name, in: parent)
        node.fingerprint = fingerprint
        node.materialization = materialization
        note(node)
    }

    /// Drops a node and everything below it, without uploading a deletion.
    private func dropAll(_ node: Node) {
        dropEntries(of: node)
        drop(node)
    }

    private func dropEntries(of folder: Node) {
        guard folder.kind == .folder else { return }
        do throws(ReplicaError) {
            try children(of: folder)
        } catch {
            // If it can't be compared, the known entries are loaded all the same.
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

    /// Makes tombstones of a node and of everything below it.
    func makeTombstones(_ node: Node) {
        if node.kind == .folder {
            do throws(ReplicaError) {
                let children = try children(of: node)
                for child in children.values.sorted(by: { $0.number < $1.number }) { makeTombstones(child) }
            } catch {
                // Nothing below a folder that can't be loaded is reported as deleted.
                return
            }
        }
        if node.kind == .file, let other = newName(of: node) { return take(other, as: node) }
        makeTombstone(node)
    }

    /// Creates a missing item again as dataless. Absence never counts as deletion (SEMANTICS, principle 2): content that a power cut
    /// removed is fetched again.
    private func recreateDataless(_ node: Node) {
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
                // It is no longer one of the file's names.
                separate(node)
            }
            scan?.forget(node)
            folder.children?[node.name] = node
            node.materialization = .dataless
            node.ranges = RangeSet64()
            node.dirty.remove(.contents)
            node.fingerprint = FileFingerprint()
            refreshFingerprint(node)
            // The store decides its attributes.
            distrustMetadata(of: node)
            note(node)
        } catch {
            forgetUntilListed(node)
        }
    }

    /// Drops an item without uploading a deletion, and has its folder listed again.
    private func forgetUntilListed(_ node: Node) {
        if let folder = node.parent { askAgain(for: folder) }
        dropAll(node)
    }

    /// Requests another listing of a listed folder.
    func askAgain(for folder: Node) {
        folder.flags.insert(.needsListing)
        items.needsListing.insert(folder.number)
        pending.wake()
        note(folder)
    }
}

extension Node {
    /// Whether the store doesn't know it.
    fileprivate var isUnknown: Bool { base == nil && !flags.contains(.createSent) && !isDeleted }

    /// Whether its file is what the store's change of `item` would have produced.
    fileprivate func isContent(of item: Item) -> Bool {
        guard kind == .file, fingerprint.size == item.size else { return false }
        return item.metadata.modificationDate.map { $0.nanoseconds == fingerprint.modified } ?? true
    }
}
