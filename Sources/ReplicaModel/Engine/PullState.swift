/// The state of the pulls of the store's changes.
struct PullState {
    var isWanted = true
    /// Whether the store is known to be the one of the last run.
    var isStoreRecognized = false
    /// Whether the store is another one or could not be reached when it was last asked; nil if it was not asked in this run.
    var isStoreInDoubt: Bool?
    /// When the store is asked again without a signal, in seconds since 1970.
    var next = 0.0
    /// The number of pulls, and the number of the last one that succeeded.
    var (begun, done) = (0, 0)
    /// How many calls were answered when the last pull that ended began.
    var lastAsked: UInt64 = 0
    /// How many callers wait for all that the store has.
    var pollers = 0
    /// Items that a call did not find, with the pull that has to report their state.
    var suspects: [ItemIdentifier: Int] = [:]
    /// Whether all calls of the last run are answered.
    var knowsOwnCalls = false
    /// Whether the user accepted the store's current content as this domain's.
    var takesOtherStore = false
    /// Since when all last batches were incomplete, in seconds since 1970; nil if the last one was not.
    private var incompleteSince: Double?

    /// For how many seconds an incomplete batch does not end a pull. A change that the store can't describe for so long is reported when it can.
    private static let longestIncomplete = 30.0

    /// Whether a pull ends with a batch that announces no other.
    /// - Parameter isIncomplete: Whether it or another batch of the pull is incomplete.
    mutating func isLast(isIncomplete: Bool, at now: Double) -> Bool {
        incompleteSince = isIncomplete ? incompleteSince ?? now : nil
        return incompleteSince.map { now - $0 >= Self.longestIncomplete } ?? true
    }

    /// A pull has failed.
    mutating func fail() { incompleteSince = nil }

    /// - Returns: The number of the pull that begins.
    mutating func begin() -> Int {
        isWanted = false
        begun += 1
        return begun
    }

    /// A call did not find the item.
    /// - Returns: Whether a pull since then confirms that it is gone; otherwise the next one will have to.
    mutating func suspect(_ identifier: ItemIdentifier) -> Bool {
        if let pull = suspects[identifier], done >= pull {
            suspects[identifier] = nil
            return true
        }
        if suspects[identifier] == nil { suspects[identifier] = begun + 1 }
        isWanted = true
        return false
    }
}
