internal import Glibc
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

    /// A placeholder that was truncated to zero has nothing left to fetch.
    /// - Throws: If the mark can't be removed: after a crash what is written then would be taken for what an eviction left. The file is a
    ///   placeholder of its former size again.
    func becomeWhole(_ node: Node, _ file: HeldFile) throws(Errno) {
        guard node.materialization != .whole else { return }
        do throws(Errno) { try file.setXattr(OwnXattr.dataless, nil) } catch {
            guard error != .noAttribute, error != .notSupported else { return becomeWhole(node) }
            (node.materialization, node.ranges) = (.dataless, RangeSet64())
            note(node)
            // If this fails too, a scan restores it, unless it is marked as truncated: then it is empty in the store as well.
            try? file.restorePlaceholder(of: node)
            throw error
        }
        becomeWhole(node)
    }

    private func becomeWhole(_ node: Node) { (node.materialization, node.ranges) = (.whole, RangeSet64()) }

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

extension HeldFile {
    /// Gives a placeholder its size and time again.
    fileprivate func restorePlaceholder(of node: Node) throws(Errno) {
        let file = try open(O_WRONLY)
        defer { close(file) }
        try Errno.check(ftruncate(file, Int(node.fingerprint.size)))
        try node.keepTime(of: file)
    }
}
