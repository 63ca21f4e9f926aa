/// When the store last answered a call about an item: changes reported earlier may be older than the result of the
/// call, regardless of which node has the item now.
struct AnswerLog {
    /// How many calls were answered in this run, from 1 on: 0 is before everything.
    private(set) var count: UInt64 = 1
    /// By a hash of the identifier, to save space. A collision only costs an additional request.
    private var last: [Int: UInt64] = [:]
    /// The items of the answers up to this one are no longer known.
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

    /// The answers to record now.
    mutating func takeUnrecorded() -> [ItemIdentifier: UInt64] {
        defer { unrecorded = [:] }
        return unrecorded
    }

    /// The database could not be written.
    mutating func putBack(_ answers: [ItemIdentifier: UInt64]) { unrecorded.merge(answers) { newer, _ in newer } }

    /// Drops answers that no change still to be applied can be older than.
    mutating func forget(upTo answer: UInt64) {
        forgotten = max(forgotten, answer)
        last = last.filter { $0.value > answer }
    }
}
