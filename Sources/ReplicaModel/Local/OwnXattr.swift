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
