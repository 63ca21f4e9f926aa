/// The relevant kinds of events at a place.
struct ChangeCause: OptionSet {
    let rawValue: UInt8

    /// The entry was moved away, not unlinked or replaced.
    static let movedAway = ChangeCause(rawValue: 1)
    /// The entry's mode, times or attributes were set.
    static let attributes = ChangeCause(rawValue: 2)
    /// Bytes of the entry were written.
    static let written = ChangeCause(rawValue: 4)
    /// The folder is unreadable until its owner or its disk changes that: no call waits for it.
    static let blocked = ChangeCause(rawValue: 8)
    /// A program closed the file, which it had open for writing: writes to a mapping cause no other event.
    static let closed = ChangeCause(rawValue: 16)
}
