/// When what failed is tried again before its own time: soon, for as long as somebody waits, when the store signals, and when
/// something went well that had failed. A few items show whether the cause is gone.
struct Retrial: Hashable {
    /// How often in a row it was tried so and nothing went well.
    private(set) var attempts = 0
    /// When it was last tried so, in seconds since 1970.
    private(set) var triedAt = -Double.infinity
    /// Whether the store signalled since.
    var isSignalled = false
    /// Whether something went well since that had failed before.
    private(set) var hasHelped = false

    /// How many items are tried at once to see whether the cause is gone.
    static let fewItems = 16

    /// In seconds since 1970; nil when nothing says that the cause may be gone, and nobody waits for it.
    func next(isAwaited: Bool) -> Double? {
        guard isAwaited || isSignalled || hasHelped else { return nil }
        return triedAt + Backoff.delay(attempts: attempts, jitter: 1, isAwaited: true)
    }

    /// Something is tried now.
    /// - Returns: How many items may be.
    mutating func begin(at now: Double) -> Int {
        defer { (isSignalled, hasHelped) = (false, false) }
        attempts = hasHelped ? 1 : attempts + 1
        triedAt = now
        return hasHelped ? .max : Self.fewItems
    }

    /// Nothing is wrong now.
    mutating func rest(at now: Double) { self = Retrial(triedAt: now) }

    /// Something went well that had failed before.
    mutating func help() { (attempts, hasHelped) = (0, true) }

    init(triedAt: Double = -.infinity) { self.triedAt = triedAt }
}

/// An item whose last try failed.
struct FailedItem: Hashable {
    var number: ItemNumber
    /// What it has in common with others that the same cause stops.
    var folder: ItemNumber?
    var attempts: Int
}

/// Which items show best whether a cause is gone: one of each folder, those first that were tried least.
func itemsToRetry(_ failed: [FailedItem], atMost limit: Int) -> [ItemNumber] {
    let ordered = failed.sorted { ($0.attempts, $0.number) < ($1.attempts, $1.number) }
    guard ordered.count > limit else { return ordered.map(\.number) }
    var folders: Set<ItemNumber?> = []
    var (first, rest): ([ItemNumber], [ItemNumber]) = ([], [])
    for item in ordered {
        folders.insert(item.folder).inserted ? first.append(item.number) : rest.append(item.number)
    }
    return Array((first + rest).prefix(limit))
}
