/// When the store last answered a call about an item: changes reported before that may be older than the result of the
/// call, whichever node has the item now.
struct AnswerLog {
    /// How many calls were answered in this run, from 1 on: 0 is before everything.
    private(set) var count: UInt64 = 1
    /// By a hash of the identifier, which is smaller. Were two the same, the store would be asked once too often.
    private var last: [Int: UInt64] = [:]
    /// Which items the answers up to this one were about is not known any more.
    private var forgotten: UInt64 = 0
    /// The answers that the database does not know yet.
    private var unrecorded: [ItemIdentifier: UInt64] = [:]

    /// One more call was answered, about this item if the store has named it.
    mutating func noteCall(about identifier: ItemIdentifier?) {
        count += 1
        if let identifier { note(identifier) }
    }

    /// The last answer was about this item, or the item has left the tree.
    mutating func note(_ identifier: ItemIdentifier) {
        last[identifier.tableHash] = count
        unrecorded[identifier] = count
    }

    /// Whether a call about the item was answered after the store was asked, or may have been.
    /// - Parameter asked: ``count`` at that time.
    func isStale(_ identifier: ItemIdentifier, asked: UInt64) -> Bool {
        asked == 0 || last[identifier.tableHash].map { $0 > asked } ?? (asked < forgotten)
    }

    /// What the database is to learn now.
    mutating func takeUnrecorded() -> [ItemIdentifier: UInt64] {
        defer { unrecorded = [:] }
        return unrecorded
    }

    /// The database could not be written.
    mutating func putBack(_ answers: [ItemIdentifier: UInt64]) { unrecorded.merge(answers) { newer, _ in newer } }

    /// Forgets answers that nothing still to be applied can be older than.
    mutating func forget(upTo answer: UInt64) {
        forgotten = max(forgotten, answer)
        last = last.filter { $0.value > answer }
    }
}
