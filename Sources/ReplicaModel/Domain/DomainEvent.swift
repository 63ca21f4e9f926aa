internal import Threads

/// An event of a domain.
package struct DomainEvent: Sendable, Hashable {
    /// What happened.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A local change that the store does not have yet.
        case localChange
        /// A program moved or renamed an item; the detail is where it was.
        case localMove
        /// A program removed an item.
        case localDeletion
        /// A change of the store was applied to an item.
        case remoteChange
        /// An item was moved in the store; the detail is where it was, or that it is at no place that is listed here.
        case remoteMove
        /// A deletion in the store was applied.
        case remoteDeletion
        /// The store has the item's local state.
        case uploaded
        /// The store has deleted an item that was removed here.
        case uploadedDeletion
        /// All of a file's content is here.
        case downloaded
        case evicted
        /// A call of the store failed for an item.
        case error
        /// Both sides changed a file: the local side became a copy, at the path.
        case conflict
        /// The domain's state changed; the detail is the new state.
        case state
        /// All items of an import or a reimport were handed to the store (statement 16).
        case importDidFinish
        /// The set of materialized items changed (NSFileProviderMaterializedSetDidChange).
        case materializedSet
        /// The set of pending items changed (NSFileProviderPendingSetDidChange).
        case pendingSet
    }
    package var kind: Kind
    /// Below the root; nil for an event of the domain.
    package var path: [FileName]?
    /// One line with details, if any.
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
    /// The events from now on, until the domain stops. A listener that falls thousands of events behind misses the oldest.
    package func events() -> AsyncStream<DomainEvent> { replica.events.stream() }
}
