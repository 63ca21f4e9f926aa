internal import Glibc
internal import Threads

/// Optional handling of SIGTERM, SIGINT and SIGHUP for daemons.
public enum TerminationSignals {
    private static func makeSet() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, signal) }
        return set
    }

    /// Blocks the three signals. Call it first in `main`: threads created later inherit the mask.
    public static func block() {
        var set = makeSet()
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Calls `handler` on a separate thread for each of these signals. Requires ``block()``.
    /// - Returns: false if no thread could be created.
    @discardableResult
    public static func handle(_ handler: @escaping @Sendable (_ signal: Int32) -> Void) -> Bool {
        let thread = Thread {
            var set = makeSet()
            var signal: Int32 = 0
            while sigwait(&set, &signal) == 0 { handler(signal) }
        }
        thread?.detach()
        return thread != nil
    }
}
