internal import SystemPackage

/// Fingerprints of files that are open for writing, or were changed here.
extension Tree {
    /// Finds out whether a file that is or was open for writing has other content than before.
    func settle(_ node: Node) {
        guard items.writing[node.number] != nil, node.kind == .file, !node.isDeleted, node.parent != nil else { return }
        do throws(ReplicaError) {
            let place = try place(of: node)
            let fingerprint = FileFingerprint(try errnos { () throws(Errno) in try place.status() })
            guard fingerprint.hasOtherContent(than: node.fingerprint) || fingerprint.changed != node.fingerprint.changed
            else { return }
            noteContent(fingerprint, of: node)
        } catch {
            // The backing file is gone; a scan decides what that means.
        }
    }

    /// A truncated file has nothing left to fetch.
    func becomeWhole(_ node: Node, _ file: HeldFile) {
        guard node.materialization != .whole else { return }
        node.materialization = .whole
        node.ranges = RangeSet64()
        do throws(Errno) {
            try file.setXattr(OwnXattr.dataless, nil)
        } catch {
            // The mark may be missing; one that stays only costs a fetch.
        }
    }

    /// Updates a node's fingerprint after a change that does not affect its content, unless another file is in its
    /// place.
    func refreshFingerprint(_ node: Node) {
        do throws(ReplicaError) {
            let place = try place(of: node)
            let status = try errnos { () throws(Errno) in try place.status() }
            let fresh = FileFingerprint(status)
            guard !isWritten(node), node.fingerprint.inode == 0 || fresh.isSameFile(as: node.fingerprint) else {
                return
            }
            node.fingerprint = fresh
        } catch {
            // The old fingerprint stays: the next check finds a difference and sends the content once more.
        }
    }
}
