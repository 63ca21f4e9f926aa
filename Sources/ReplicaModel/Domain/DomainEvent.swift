/// One thing that happened in a domain.
package struct DomainEvent: Sendable, Hashable {
    /// What happened.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Something became known that the store does not have yet.
        case localChange
        /// The tree follows the store for an item.
        case remoteChange
        /// The tree follows a deletion in the store.
        case remoteDeletion
        /// The store has the item as it was here.
        case uploaded
        /// All of a file's content is here.
        case downloaded
        case evicted
        /// A call of the store failed for an item.
        case error
        /// Both sides changed a file: the local side is a copy now, at the path.
        case conflict
        /// The domain's state became another: the detail says which.
        case state
        /// All items of an import or a reimport were handed to the store (statement 16).
        case importDidFinish
        /// Other items than before are materialized (NSFileProviderMaterializedSetDidChange).
        case materializedSet
        /// Other items than before are pending (NSFileProviderPendingSetDidChange).
        case pendingSet
    }
    package var kind: Kind
    /// Below the root; nil where it is about the domain.
    package var path: [FileName]?
    /// One line, where there is more to say.
    package var detail: String?
    package var date: Timestamp

    init(_ kind: Kind, path: [FileName]?, detail: String?, seconds: Double) {
        self.kind = kind
        self.path = path
        self.detail = detail
        date = Timestamp(secondsSince1970: seconds)
    }
}

extension Domain {
    /// What happens from now on, until the domain stops. A listener that is thousands of events behind misses the
    /// oldest.
    package func events() -> AsyncStream<DomainEvent> { replica.events.stream() }
}
