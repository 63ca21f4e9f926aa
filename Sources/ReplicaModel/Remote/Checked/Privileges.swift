/// What a store's word may bring beside bytes and names: nobody gets somebody else's rights by it.
///
/// The daemon may be root, and what it makes belongs to the folder's owner: a set-user-ID bit from the store would be
/// root's rights for whoever writes there.
struct Privileges: Hashable, Sendable {
    /// Whether set-user-ID and set-group-ID bits come and go as the other bits do.
    var trustsSetID = false

    /// What is replicated of a mode.
    func replicated(_ mode: UInt16) -> UInt16 { trustsSetID ? mode & 0o7777 : mode & 0o1777 }

    /// Whether the store's mode says anything else than a file's own: bits that it can't have are no difference.
    func isChange(_ mode: UInt16, of own: UInt16) -> Bool { replicated(mode) != replicated(own) }

    /// The metadata without what a store can't give: of attributes only the user's are left, never `security.*`,
    /// `trusted.*` or `system.*`.
    func taken(_ metadata: ItemMetadata) -> ItemMetadata {
        var taken = metadata
        taken.mode = metadata.mode.map(replicated)
        taken.extendedAttributes = metadata.extendedAttributes?.filter { $0.key.hasPrefix("user.") }
        return taken
    }

    func taken(_ item: Item) -> Item {
        var taken = item
        taken.metadata = self.taken(item.metadata)
        return taken
    }

    func taken(_ error: RemoteStoreError) -> RemoteStoreError {
        switch error {
        case .filenameCollision(let item?): .filenameCollision(taken(item))
        case .versionConflict(let item?): .versionConflict(taken(item))
        case .deletionRejected(let item?): .deletionRejected(taken(item))
        default: error
        }
    }
}
