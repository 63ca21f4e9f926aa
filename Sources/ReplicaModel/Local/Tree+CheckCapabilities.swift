internal import Glibc
internal import SystemPackage

/// Enforces capabilities for programs, if the domain's options say so (statements 55 and 56). A folder's capabilities
/// apply to the folder alone: they are not inherited (MODEL.md#items).
///
/// A capability that is missing at a file, or at the folder of a new entry, is EACCES, as if the mode forbade it; an
/// operation that the item itself does not allow is EPERM, as for an immutable file (ioctl_iflags(2)).
extension Tree {
    /// Refuses operations that the store does not allow.
    func demand(_ capability: Capabilities, of node: Node, else errno: Errno) throws(ReplicaError) {
        guard lacks(capability, node) else { return }
        throw .errno(errno)
    }

    /// open(2): reading and writing each need their own capability.
    func demandAccess(to node: Node, flags: Int32) throws(ReplicaError) {
        if flags & O_ACCMODE != O_WRONLY { try demand(.reading, of: node, else: .permissionDenied) }
        if flags & O_ACCMODE != O_RDONLY || flags & O_TRUNC != 0 {
            try demand(.writing, of: node, else: .permissionDenied)
        }
    }

    /// setattr: owners and access times stay local and are always allowed.
    func demandChange(_ change: AttributeChange, of node: Node) throws(ReplicaError) {
        if change.size != nil { try demand(.writing, of: node, else: .permissionDenied) }
        if change.mode != nil || change.modified != nil { try demand(.writing, of: node, else: .notPermitted) }
    }

    /// rename(2): checks the moved item, the target folder and the replaced item.
    func demandRename(
        _ node: Node, from: Node, to name: FileName, in into: Node, flags: RenameFlags
    ) throws(ReplicaError) {
        guard store.enforcesCapabilities else { return }
        try demandMove(node, from: from, to: name, in: into)
        guard let other = into.children?[name], other !== node else { return }
        if flags.contains(.exchange) { return try demandMove(other, from: into, to: node.name, in: from) }
        // A file renamed over another becomes its newer content.
        let isSave = node.kind == .file && other.kind == .file
        try demand(isSave ? .writing : .deleting, of: other, else: .notPermitted)
    }

    private func demandMove(_ node: Node, from: Node, to name: FileName, in into: Node) throws(ReplicaError) {
        if from !== into { try demand(.writing, of: into, else: .permissionDenied) }
        // An item may always leave the trash, and the file manager chooses its names there.
        guard !isTrash(from) else { return }
        if isTrash(into) { return try demand(.trashing, of: node, else: .notPermitted) }
        if from !== into { try demand(.reparenting, of: node, else: .notPermitted) }
        if name != node.name { try demand(.renaming, of: node, else: .notPermitted) }
    }

    /// Adjusts a file's mode to its capabilities: access(2) only checks the mode.
    func maskMode(_ status: inout FileStatus, of node: Node) {
        guard store.enforcesCapabilities, node.kind == .file else { return }
        if lacks(.writing, node) { status.mode &= ~0o222 }
        if lacks(.reading, node) { status.mode &= ~0o444 }
    }

    private func lacks(_ capability: Capabilities, _ node: Node) -> Bool {
        guard store.enforcesCapabilities, !node.isNew, let base = node.base else { return false }
        return !base.capabilities.isSuperset(of: capability)
    }
}
