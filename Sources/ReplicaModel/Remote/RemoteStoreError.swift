/// Errors of a store (MODEL.md#errors). The engine decides what follows from each.
public enum RemoteStoreError: Error, Hashable, Sendable {
    /// The user must log in. Backs off until resolved.
    case notAuthenticated
    /// Another item in this folder has this name; nil if the store does not know which.
    case filenameCollision(Item?)
    /// The anchor or the page is unknown: enumerate again.
    case syncAnchorExpired
    /// No space left for this user. Backs off until resolved.
    case insufficientQuota
    /// The store is currently read-only. Backs off until resolved.
    case readOnly
    /// No answer, or a transient failure of the store. Retried.
    case serverUnreachable
    /// The store asks for a pause of so many seconds; 0 where it does not say how long. No call is made before it is over.
    case busy(seconds: Double)
    /// The item was definitely deleted; on a create, the parent.
    case noSuchItem(ItemIdentifier)
    /// The item must not be deleted; its current state if known.
    case deletionRejected(Item?)
    /// A folder to delete has children.
    case directoryNotEmpty(ItemIdentifier)
    /// Rejected until the item or the store changes. Parked until an edit, `retry` or `resolved`.
    case cannotSynchronize(String)
    /// This item can't be read or changed now, as the text says; for example an unreadable or a locked file. Retried,
    /// while the others continue.
    case itemUnavailable(String)
    /// The answer is invalid: it breaks a promise of ``RemoteStore``, as the text says. Thrown by the engine, never by
    /// a store. Retried, because the store may be repaired.
    case malformedAnswer(String)
    /// The store does not answer calls about this item, and it is not known whether a change was made. Thrown by the engine, never
    /// by a store. Retried, while the others continue.
    case unanswered
    /// The requested version is no longer available.
    case versionNoLongerAvailable
    /// The item must stay local.
    case excludedFromSync
    /// The base of a change is not the store's current version, which is attached if known.
    case versionConflict(Item?)
    /// The call was cancelled.
    case cancelled
    /// The store does not support this.
    case unsupported(String)

    /// The message for users: the store's text, or the meaning of the error.
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
        case .busy: "the store is busy and asks for a pause"
        case .noSuchItem: "it no longer exists in the store"
        case .deletionRejected: "the store refused to delete it"
        case .directoryNotEmpty: "the store's folder is not empty"
        case .unanswered: "the store does not answer"
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
        case .busy: "busy"
        case .noSuchItem: "noSuchItem"
        case .deletionRejected: "deletionRejected"
        case .directoryNotEmpty: "directoryNotEmpty"
        case .cannotSynchronize: "cannotSynchronize"
        case .malformedAnswer: "malformedAnswer"
        case .itemUnavailable: "itemUnavailable"
        case .unanswered: "unanswered"
        case .versionNoLongerAvailable: "versionNoLongerAvailable"
        case .excludedFromSync: "excludedFromSync"
        case .versionConflict: "versionConflict"
        case .cancelled: "cancelled"
        case .unsupported: "unsupported"
        }
    }
}
