internal import SystemPackage

/// One call of the store, with the state of the tree when it started.
struct Outgoing: Sendable {
    enum Call: Sendable, Hashable {
        case create(CreateOptions)
        case modify(base: ItemVersion)
        case delete(base: ItemVersion)
        /// Asks whether an earlier, unanswered call arrived.
        case resolve
    }

    var number: ItemNumber
    /// ``Node/edits`` when it began.
    var edits: UInt64
    var call: Call
    var template: ItemTemplate
    var fields: ItemFields
    /// Where the item was to be, in the replica's numbers.
    var parent: ItemNumber
    /// Whether the store has named the item already.
    var isOfKnownItem = false
    /// Whether the last attempt failed.
    var isRepeated = false
    /// Whether it gives the item a passing name, to free its own for another.
    var isPassing = false
    /// An open file with the content, which the engine closes; nil if no content is sent.
    var source: Int32?
    var fingerprint = FileFingerprint()
}

/// What the engine may do about an item now.
enum Step: Sendable {
    case send(Outgoing)
    case wait(Readiness)
    /// These files' contents and folders' listings have to be fetched first.
    case fetch([ItemNumber])
}
