/// Where programs were recently active, and what may have changed.
struct RecentActivity: Sendable {
    /// When a folder was last listed, in nanoseconds of the store's clock.
    var comparedAt: [Int64: Int64] = [:]
    var usedAt: [Int64: Int64] = [:]
    /// Folders that the storage reported as possibly changed.
    var signalled: Set<StoragePath> = []
    /// Whether anything may have changed, or a caller waits for every change.
    var isSignalledEverywhere = false
    /// How often a failed full poll is retried.
    var fullPollsLeft = 0
    var isListening = false
}
