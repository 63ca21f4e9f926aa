/// The relevant kinds of events at a place.
struct ChangeCause: OptionSet {
    let rawValue: UInt8

    /// The entry was moved away, not unlinked or replaced.
    static let movedAway = ChangeCause(rawValue: 1)
    /// The entry's mode, times or attributes were set.
    static let attributes = ChangeCause(rawValue: 2)
    /// Bytes of the entry were written.
    static let written = ChangeCause(rawValue: 4)
    /// The folder can't be read for now, which nothing but its owner or its disk can change: nobody waits for that.
    static let blocked = ChangeCause(rawValue: 8)
}
