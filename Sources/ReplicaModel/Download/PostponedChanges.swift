/// Changes of the store that could not be applied, each with the time of its next attempt.
struct PostponedChanges {
    private struct Entry {
        var attempts: Int
        var retryAt: Double
        /// Whether the item exists here and has the error in its own state.
        var isKnown: Bool
    }
    private var entries: [ItemIdentifier: Entry] = [:]
    /// How often each failed in a row with an error that may pass at once.
    private var failures: [ItemIdentifier: Int] = [:]

    /// The items that don't exist here, so that nothing else shows their errors.
    var unknown: [ItemIdentifier] { entries.filter { !$0.value.isKnown }.map(\.key) }

    var isEmpty: Bool { entries.isEmpty }

    /// When the next of them is due, in seconds since 1970.
    var next: Double? { entries.values.map(\.retryAt).min() }

    func isDue(_ identifier: ItemIdentifier, at now: Double) -> Bool {
        entries[identifier].map { $0.retryAt <= now } ?? true
    }

    /// Notes that an item's change failed with an error that may pass at once, such as a name that is just being moved.
    /// - Returns: Whether it has failed so often that it does not pass at once.
    mutating func isLasting(_ identifier: ItemIdentifier) -> Bool {
        failures[identifier, default: 0] += 1
        return failures[identifier, default: 0] > Self.mostFailures
    }

    private static let mostFailures = 8

    /// - Parameter jitter: 0 to 1.
    /// - Returns: The time of the next attempt, in seconds since 1970.
    mutating func add(_ identifier: ItemIdentifier, isKnown: Bool, now: Double, jitter: Double) -> Double {
        let attempts = (entries[identifier]?.attempts ?? 0) + 1
        let retryAt = now + Backoff.delay(attempts: attempts, jitter: jitter)
        entries[identifier] = Entry(attempts: attempts, retryAt: retryAt, isKnown: isKnown)
        return retryAt
    }

    /// Makes some of them due immediately.
    /// - Returns: Whether there are any.
    mutating func makeDue(atMost limit: Int, at now: Double) -> Bool {
        let late = entries.filter { $0.value.retryAt > now }.sorted { $0.value.attempts < $1.value.attempts }
        for (identifier, _) in late.prefix(limit) { entries[identifier]?.retryAt = now }
        return !late.isEmpty
    }

    mutating func remove(_ identifier: ItemIdentifier) { (entries[identifier], failures[identifier]) = (nil, nil) }

    mutating func removeAll() { (entries, failures) = ([:], [:]) }
}
