import Glibc

/// The signals that terminate or stop a process, blocked while the terminal does not echo: its settings have to be restored before one is
/// delivered.
struct HeldSignals {
    private static let all = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP]

    private var set = sigset_t()
    /// The former signal mask.
    private var before = sigset_t()

    /// Blocks them.
    init() {
        sigemptyset(&set)
        for signal in Self.all { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, &before)
    }

    /// Whether one is pending.
    var isOneWaiting: Bool {
        var waiting = sigset_t()
        return sigpending(&waiting) == 0 && Self.all.contains { sigismember(&waiting, $0) == 1 }
    }

    /// Delivers pending signals: this process terminates, or stops until it is continued.
    func release() {
        var before = before
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    /// Blocks them again.
    func hold() {
        var set = set
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }
}
