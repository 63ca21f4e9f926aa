/// Limits the rights that a store can grant: no user gains another user's rights through it.
///
/// The daemon may be root, and what it creates belongs to the folder's owner: a set-user-ID bit from the store would
/// give root's rights to every user who can write there.
struct Privileges: Hashable, Sendable {
    /// Whether set-user-ID and set-group-ID bits are replicated like the other bits.
    var trustsSetID = false

    /// The part of a mode that is replicated.
    func replicated(_ mode: UInt16) -> UInt16 { trustsSetID ? mode & 0o7777 : mode & 0o1777 }

    /// Whether the store's mode differs from a file's own in bits that are replicated.
    func isChange(_ mode: UInt16, of own: UInt16) -> Bool { replicated(mode) != replicated(own) }

    /// The metadata that is accepted from a store: only attributes in `user.`, never `security.*`, `trusted.*` or
    /// `system.*`.
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
