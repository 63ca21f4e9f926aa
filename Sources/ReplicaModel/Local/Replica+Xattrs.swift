internal import CLinux
internal import Glibc
internal import SystemPackage

/// The extended attributes that the replica itself keeps on files.
enum OwnXattr {
    /// On a file whose content is not all here, and on the tree's root until it was listed for the first time.
    static let dataless = "user.replica.dataless"
    /// On the tree's root: the run in which the tree was last used.
    static let epoch = "user.replica.epoch"
    static let tags = "user.xdg.tags"
    static let lastUsed = "user.replica.lastused"
    static let favorite = "user.replica.favorite"
    /// A program's rights beyond those of its user (capabilities(7)). The kernel reads it before a write.
    static let capability = "security.capability"
    /// An ACL (acl(5)), which changes the mode with it.
    static let accessList = "system.posix_acl_access"
    private static let own = "user.replica."

    /// Whether programs may not see or set it.
    static func isHidden(_ name: String) -> Bool {
        name.hasPrefix(own) && name != lastUsed && name != favorite
    }

    /// Whether the value is valid for the attribute: dates and ranks are numbers.
    static func allows(_ value: UnsafeRawBufferPointer?, for name: String) -> Bool {
        guard let value else { return true }
        let text = String(decoding: value, as: UTF8.self)
        return switch name {
        case lastUsed: Int64(text) != nil
        case favorite: UInt64(text) != nil
        default: true
        }
    }

    /// The item's field that contains the attribute; nil if it stays local.
    static func field(of name: String) -> ItemFields? {
        switch name {
        case tags: .tags
        case lastUsed: .lastUsedDate
        case favorite: .favoriteRank
        default: name.hasPrefix("user.") && !isHidden(name) ? .extendedAttributes : nil
        }
    }
}

extension Replica {
    /// Whether an item is known not to have the attribute: only true for `security.capability`, which the kernel reads
    /// at the first write to each file.
    package func isKnownToLack(_ name: UnsafePointer<CChar>, _ number: ItemNumber) -> Bool {
        guard strcmp(name, OwnXattr.capability) == 0 else { return false }
        return withTree { $0.items[inode: number]?.lacksCapability == true }
    }

    /// getxattr(2).
    package func xattr(_ name: String, of number: ItemNumber) throws(ReplicaError) -> [UInt8] {
        guard !OwnXattr.isHidden(name) else { throw .errno(Errno(rawValue: ENODATA)) }
        return try withTreeWaking { (tree) throws(ReplicaError) in
            let node = try tree.node(number)
            do throws(ReplicaError) {
                return try tree.hold(node) { (file) throws(Errno) in try file.xattr(name) }
            } catch {
                if name == OwnXattr.capability, error.errno.rawValue == ENODATA { node.lacksCapability = true }
                throw error
            }
        }
    }

    /// listxattr(2), without the replica's own.
    package func xattrNames(of number: ItemNumber) throws(ReplicaError) -> [String] {
        try withTreeWaking { (tree) throws(ReplicaError) in
            let node = try tree.node(number)
            let names = try tree.hold(node) { (file) throws(Errno) in try file.xattrNames() }
            return names.filter { !OwnXattr.isHidden($0) }
        }
    }

    /// setxattr(2); nil removes. Never fetches content.
    /// - Parameter killsSetGroupID: Whether setting an ACL clears set-group-ID, as it does if the owner is not in the
    ///   group.
    package func setXattr(
        _ name: String, _ value: UnsafeRawBufferPointer?, flags: Int32, of number: ItemNumber,
        killsSetGroupID: Bool = false
    ) throws(ReplicaError) {
        guard !OwnXattr.isHidden(name) else { throw .errno(.notPermitted) }
        guard OwnXattr.allows(value, for: name) else { throw .errno(.invalidArgument) }
        let field = OwnXattr.field(of: name)
        let kind = try withTreeWaking { (tree) throws(ReplicaError) in
            let node = try tree.node(number)
            let isShared = field == .extendedAttributes || name == OwnXattr.accessList
            // Tags, favorites and last-used dates belong to the user (MODEL.md#items).
            if isShared { try tree.demand(.writing, of: node, else: .notPermitted) }
            tree.settle(node)
            try tree.hold(node) { (file) throws(Errno) in
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
