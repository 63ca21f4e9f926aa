/// How long somebody waits for a thread that makes a local system call.
///
/// It takes moments, unless a folder's lock is held in the kernel by a request that waits for the store: then the thread
/// sleeps there in one and the same sleep. A thread that runs, that waits for a processor or for a request to be answered
/// is only slow, and giving it up would lose what the call is made for.
struct WaitLimit {
    /// Nobody is given up before, in seconds.
    static let least = 2.0
    /// What makes a sleep a long one, in seconds.
    static let longSleep = 1.0
    /// Nobody is waited for any longer, in seconds.
    static let most = 30.0

    private var sleep: ThreadSleep?
    private var sleepsSince = 0.0

    /// Whether to give up.
    /// - Parameters:
    ///   - elapsed: Since the wait began, in seconds.
    ///   - now: The sleep that the thread is in just now; nil when it is in none.
    mutating func isOver(after elapsed: Double, _ now: ThreadSleep?) -> Bool {
        if now == nil || now != sleep { (sleep, sleepsSince) = (now, elapsed) }
        guard elapsed < Self.most else { return true }
        return elapsed >= Self.least && sleep != nil && elapsed - sleepsSince >= Self.longSleep
    }
}
