internal import CLinux
internal import Glibc
internal import SystemPackage

extension Replica {
    /// Whether an item is known not to have the attribute: only true for `security.capability`, which the kernel reads
    /// at the first write to each file.
    package func isKnownToLack(_ name: UnsafePointer<CChar>, _ number: ItemNumber) -> Bool {
        guard strcmp(name, OwnXattr.capability) == 0 else { return false }
        return withTree { $0.items[inode: number]?.lacksCapability == true }
    }

    /// getxattr(2).
    package func xattr(_ name: String, of item: some ItemReference) throws(ReplicaError) -> [UInt8] {
        guard !OwnXattr.isHidden(name) else { throw .errno(.noAttribute) }
        return try withTreeWaking { (tree) throws(ReplicaError) in
            let node = try tree.node(item)
            do throws(ReplicaError) {
                return try tree.withFile(of: node) { (file) throws(Errno) in try file.xattr(name) }
            } catch {
                if name == OwnXattr.capability, error.errno == .noAttribute { node.lacksCapability = true }
                throw error
            }
        }
    }

    /// listxattr(2), without the replica's own.
    package func xattrNames(of item: some ItemReference) throws(ReplicaError) -> [String] {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let node = try tree.node(item)
            let names = try tree.withFile(of: node) { (file) throws(Errno) in try file.xattrNames() }
            return names.filter { !OwnXattr.isHidden($0) }
        }
    }

    /// setxattr(2); nil removes. Never fetches content.
    /// - Parameter killsSetGroupID: Whether setting an ACL clears set-group-ID, as it does if the owner is not in the
    ///   group.
    package func setXattr(
        _ name: String, _ value: UnsafeRawBufferPointer?, flags: Int32, of item: some ItemReference,
        killsSetGroupID: Bool = false
    ) throws(ReplicaError) {
        guard !OwnXattr.isHidden(name) else { throw .errno(.notPermitted) }
        guard OwnXattr.allows(value, for: name) else { throw .errno(.invalidArgument) }
        let field = OwnXattr.field(of: name)
        let kind = try withTreeWaking { (tree) throws(ReplicaError) in
            let node = try tree.node(item)
            let isShared = field == .extendedAttributes || name == OwnXattr.accessList
            // Tags, favorites and last-used dates belong to the user (MODEL.md#items).
            if isShared { try tree.demand(.writing, of: node, else: .notPermitted) }
            tree.settle(node)
            try tree.withFile(of: node) { (file) throws(Errno) in
                try file.setXattr(name, value, flags: flags)
                if killsSetGroupID, name == OwnXattr.accessList { try file.clearSetGroupID() }
            }
            if name == "system.posix_acl_default" { node.hasDefaultACL = nil }
            if name == OwnXattr.capability { node.lacksCapability = false }
            for other in tree.items.names(of: node) {
                tree.refreshFingerprint(other)
                field.map { tree.edit(other, $0) } ?? tree.note(other)
            }
            if name == OwnXattr.accessList { tree.edit(node, .mode) }
            return node.kind
        }
        // A new entry changes both times of a folder, which would otherwise reveal the attribute to a scan after a
        // crash. A record that fails is retried soon, and shown in the status.
        if kind == .folder, field != nil { try? record() }
    }
}

extension HeldFile {
    fileprivate func clearSetGroupID() throws(Errno) {
        let mode = try status().mode & 0o7777
        if mode & UInt32(S_ISGID) != 0 { try setMode(mode & ~UInt32(S_ISGID)) }
    }
}
