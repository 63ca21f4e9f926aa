/// When failed items are retried before their backoff has ended: soon while a caller waits, after a signal of the
/// store, and after a failed item has succeeded. A few items are tried first, to find out whether the cause is gone.
struct EarlyRetry: Hashable {
    /// The number of consecutive early retries without a success.
    private(set) var attempts = 0
    /// When the last early retry began, in seconds since 1970.
    private(set) var triedAt = -Double.infinity
    /// Whether the store has signalled since.
    var isSignalled = false
    /// Whether an item that had failed has succeeded since.
    private(set) var hasHelped = false

    /// The number of items tried at once to find out whether the cause is gone.
    static let fewItems = 16

    /// Seconds since 1970; nil if nothing indicates that the cause is gone and no caller waits.
    func next(isAwaited: Bool) -> Double? {
        guard isAwaited || isSignalled || hasHelped else { return nil }
        return triedAt + Backoff.delay(attempts: attempts, jitter: 1, isAwaited: true)
    }

    /// Called when an early retry begins.
    /// - Returns: The number of items that may be retried.
    mutating func begin(at now: Double) -> Int {
        defer { (isSignalled, hasHelped) = (false, false) }
        attempts = hasHelped ? 1 : attempts + 1
        triedAt = now
        return hasHelped ? .max : Self.fewItems
    }

    /// Called when nothing has failed.
    mutating func rest(at now: Double) { self = EarlyRetry(triedAt: now) }

    /// Called when an item that had failed has succeeded.
    mutating func help() { (attempts, hasHelped) = (0, true) }

    init(triedAt: Double = -.infinity) { self.triedAt = triedAt }
}

/// An item whose last attempt failed.
struct FailedItem: Hashable {
    var number: ItemNumber
    /// Its folder, which items with a common cause often share.
    var folder: ItemNumber?
    var attempts: Int
}

/// Selects the items that are most likely to show whether a cause is gone: one of each folder, those with the fewest
/// attempts first.
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
