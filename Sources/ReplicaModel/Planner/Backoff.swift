/// How long to wait before a retry: exponential with jitter, at most five minutes (MODEL.md#decisions), or ten seconds
/// while a user or a script waits.
enum Backoff {
    /// The maximum, in seconds.
    static let longest = 300.0

    /// The time of a retry that an earlier run recorded, whose clock may have been ahead of this one.
    static func bounded(_ retryAt: Double, now: Double) -> Double { min(retryAt, now + longest) }

    /// - Parameters:
    ///   - attempts: The number of failures so far, from 1.
    ///   - jitter: 0 to 1.
    ///   - isAwaited: Whether a user or a script waits for the store.
    static func delay(attempts: Int, jitter: Double, isAwaited: Bool = false) -> Double {
        let ceiling = min(isAwaited ? 10 : longest, 0.5 * Double(1 << min(max(attempts, 1), 12)))
        return ceiling * (0.5 + jitter / 2)
    }
}
