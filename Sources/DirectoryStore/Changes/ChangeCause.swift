/// What the events at a place were, as far as it matters.
struct ChangeCause: OptionSet {
    let rawValue: UInt8

    /// The entry went to another place, rather than being unlinked or replaced.
    static let movedAway = ChangeCause(rawValue: 1)
    /// The entry's mode, times or attributes were set.
    static let attributes = ChangeCause(rawValue: 2)
    /// Bytes of the entry were written.
    static let written = ChangeCause(rawValue: 4)
}
