internal import SystemPackage

/// Placeholders that another program wrote directly in the backing tree. Their size says nothing about the store's content: nothing is sent
/// for them, and what was written is kept.
extension Tree {
    /// Whether another program changed a placeholder's size. A truncation through the mount is noted in the mark.
    func isResizedBelow(_ node: Node, _ line: BackingFolderListing.Line) -> Bool {
        guard let base = node.base, line.isDataless, !line.isTruncated, !node.dirty.contains(.contents) else {
            return false
        }
        return line.status.size != base.size && line.status.size != node.fingerprint.size
    }

    /// Gives a placeholder the size of the store's content again. Bytes in it are copied to `kept/` first.
    /// - Returns: Nil if that is not possible now: it stays as it is.
    func restorePlaceholder(
        of node: Node, _ line: BackingFolderListing.Line, in folder: Node
    ) -> FileFingerprint? {
        // What it holds is nothing of the store's.
        node.materialization = .dataless
        node.ranges = RangeSet64()
        // A file with several names can't be a placeholder: no scan makes another copy of it.
        guard let folders = scan?.folders, line.status.links == 1 else { return nil }
        do throws(ReplicaError) {
            let place = BackingPath(folder: try descriptor(of: folder), name: line.name)
            try errnos { () throws(Errno) in
                if place.mayHoldData { try folders.keepCopy(of: place, of: node.number.rawValue, line.name) }
                // The other program may still write.
                guard try place.status().changed == line.status.changed else { throw .resourceBusy }
            }
        } catch {
            return nil
        }
        return makePlaceholder(of: node, line, in: folder)
    }
}
