/// How long to wait before trying again: exponential with jitter, at most five minutes (design.md §9.8).
enum Backoff {
    /// - Parameters:
    ///   - attempts: How often it failed so far, from 1.
    ///   - jitter: 0 to 1.
    static func delay(attempts: Int, jitter: Double) -> Double {
        let ceiling = min(300, 0.5 * Double(1 << min(max(attempts, 1), 12)))
        return ceiling * (0.5 + jitter / 2)
    }
}
