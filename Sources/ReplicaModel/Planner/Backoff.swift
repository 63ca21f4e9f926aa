/// How long to wait before trying again: exponential with jitter, at most five minutes (MODEL.md#decisions), at most ten seconds
/// while somebody waits.
enum Backoff {
    /// Seconds that nothing waits longer than.
    static let longest = 300.0

    /// When something is tried again of which an earlier run noted the time: its wall clock may have been ahead of this one's.
    static func bounded(_ retryAt: Double, now: Double) -> Double { min(retryAt, now + longest) }

    /// - Parameters:
    ///   - attempts: How often it failed so far, from 1.
    ///   - jitter: 0 to 1.
    ///   - isAwaited: Whether a person or a script waits for the store.
    static func delay(attempts: Int, jitter: Double, isAwaited: Bool = false) -> Double {
        let ceiling = min(isAwaited ? 10 : longest, 0.5 * Double(1 << min(max(attempts, 1), 12)))
        return ceiling * (0.5 + jitter / 2)
    }
}
