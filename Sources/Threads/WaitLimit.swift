/// How long to wait for a thread that makes a local system call.
///
/// Normally it takes moments, unless a folder's lock is held in the kernel by a request that waits for the store: then the
/// thread stays in one uninterrupted sleep. A thread that runs, or waits for a processor or for the answer to a request,
/// is merely slow, and abandoning it would lose the purpose of the call.
struct WaitLimit {
    /// The minimum before giving up.
    static let leastSeconds = 2.0
    /// The duration of a long sleep.
    static let longSleepSeconds = 1.0
    /// The maximum wait.
    static let mostSeconds = 30.0

    private var sleep: ThreadSleep?
    private var sleepsSince = 0.0

    /// Whether to give up.
    /// - Parameters:
    ///   - elapsed: The time since the wait began, in seconds.
    ///   - now: The thread's current sleep, or nil.
    mutating func isOver(after elapsed: Double, _ now: ThreadSleep?) -> Bool {
        if now == nil || now != sleep { (sleep, sleepsSince) = (now, elapsed) }
        guard elapsed < Self.mostSeconds else { return true }
        return elapsed >= Self.leastSeconds && sleep != nil && elapsed - sleepsSince >= Self.longSleepSeconds
    }
}
