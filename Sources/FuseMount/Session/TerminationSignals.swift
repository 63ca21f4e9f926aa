internal import Glibc

/// SIGTERM, SIGINT and SIGHUP for a daemon that asks for it: nothing is installed otherwise.
public enum TerminationSignals {
    /// Keeps the three from ending the process. Call it first in `main`: threads made later inherit it.
    public static func block() { fatalError() }

    /// Calls `handler` on a thread of its own with each of the three that comes. Needs ``block()``.
    public static func handle(_ handler: @escaping @Sendable (_ signal: Int32) -> Void) { fatalError() }
}
