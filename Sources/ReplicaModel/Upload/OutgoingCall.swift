internal import SystemPackage

/// A call of the store, with the state of the tree when it began.
struct OutgoingCall: Sendable {
    enum Call: Sendable, Hashable {
        case create(CreateOptions)
        case modify(base: ItemVersion)
        case delete(base: ItemVersion)
        /// Asks whether an earlier, unanswered call arrived.
        case resolve
    }

    var number: ItemNumber
    var call: Call
    var template: ItemTemplate
    var fields: ItemFields
    /// The item's destination folder, by its number in the replica.
    var parent: ItemNumber
    /// Whether the store has already assigned an identifier to the item.
    var isOfKnownItem = false
    /// Whether the last attempt failed.
    var isRepeated = false
    /// Whether the call gives the item an interim name, to free its own for another item.
    var isInterim = false
    /// An open file with the content, which the engine closes; nil if no content is sent.
    var source: Int32?
    var fingerprint = FileFingerprint()
    /// Whether a program may write to the content while it is copied.
    var isWritten = false
}
