/// Why a store did not do what it was asked (MODEL.md#errors). The engine decides what follows from each.
public enum RemoteStoreError: Error, Hashable, Sendable {
    /// The person must log in. Backs off until resolved.
    case notAuthenticated
    /// Another item has this name in this folder; nil when the store cannot say which.
    case filenameCollision(Item?)
    /// The anchor or the page is unknown: enumerate anew.
    case syncAnchorExpired
    /// No room left for this person. Backs off until resolved.
    case insufficientQuota
    /// Nothing can be changed in the store now, while it can be read. Backs off until resolved.
    case readOnly
    /// No answer, or a passing failure of the store. Retried.
    case serverUnreachable
    /// The item is positively gone; on a create, the parent.
    case noSuchItem(ItemIdentifier)
    /// The item will not be deleted; its present state where known.
    case deletionRejected(Item?)
    /// A folder to delete has children.
    case directoryNotEmpty(ItemIdentifier)
    /// This will not work until the item or the store changes. Parked until an edit, `retry` or `resolved`.
    case cannotSynchronize(String)
    /// This item cannot be had or changed now, as the text says: an unreadable file, one that somebody holds. Retried, while the
    /// others go on.
    case itemUnavailable(String)
    /// What came is no answer: it breaks a promise of ``RemoteStore``, as the text says. The engine's own word for what a store
    /// says; retried, for the store may be mended.
    case malformedAnswer(String)
    /// The version asked for is no longer kept.
    case versionNoLongerAvailable
    /// The item is to stay local.
    case excludedFromSync
    /// The base of a change is not the store's present version, which is attached where known.
    case versionConflict(Item?)
    /// The call was cancelled.
    case cancelled
    /// The store cannot do this at all.
    case unsupported(String)

    /// What a person is told: what the store said, or what the error means.
    public var message: String {
        switch self {
        case .cannotSynchronize(let text), .unsupported(let text), .itemUnavailable(let text): text
        case .malformedAnswer(let text): "invalid answer from the store: \(text)"
        case .notAuthenticated: "the store requires a login"
        case .filenameCollision: "the store has another item with this name"
        case .syncAnchorExpired: "the store's change history has expired"
        case .insufficientQuota: "the store is full"
        case .readOnly: "the store is read-only"
        case .serverUnreachable: "the store can't be reached"
        case .noSuchItem: "it no longer exists in the store"
        case .deletionRejected: "the store refused to delete it"
        case .directoryNotEmpty: "the store's folder is not empty"
        case .versionNoLongerAvailable: "the content in the store has changed"
        case .excludedFromSync: "the store excludes it from syncing"
        case .versionConflict: "it was also changed in the store"
        case .cancelled: "it was cancelled"
        }
    }

    /// The name that `replica status`, `user.replica.error` and `replica resolved` use.
    public var code: String {
        switch self {
        case .notAuthenticated: "notAuthenticated"
        case .filenameCollision: "filenameCollision"
        case .syncAnchorExpired: "syncAnchorExpired"
        case .insufficientQuota: "insufficientQuota"
        case .readOnly: "readOnly"
        case .serverUnreachable: "serverUnreachable"
        case .noSuchItem: "noSuchItem"
        case .deletionRejected: "deletionRejected"
        case .directoryNotEmpty: "directoryNotEmpty"
        case .cannotSynchronize: "cannotSynchronize"
        case .malformedAnswer: "malformedAnswer"
        case .itemUnavailable: "itemUnavailable"
        case .versionNoLongerAvailable: "versionNoLongerAvailable"
        case .excludedFromSync: "excludedFromSync"
        case .versionConflict: "versionConflict"
        case .cancelled: "cancelled"
        case .unsupported: "unsupported"
        }
    }
}
