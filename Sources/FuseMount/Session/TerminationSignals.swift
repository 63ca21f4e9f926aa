internal import Glibc
internal import Threads

/// SIGTERM, SIGINT and SIGHUP for a daemon that asks for it: nothing is installed otherwise.
public enum TerminationSignals {
    private static func makeSet() -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, signal) }
        return set
    }

    /// Keeps the three from ending the process. Call it first in `main`: threads made later inherit it.
    public static func block() {
        var set = makeSet()
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Calls `handler` on a thread of its own with each of the three that comes. Needs ``block()``.
    /// - Returns: false when there is no thread to be had.
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
