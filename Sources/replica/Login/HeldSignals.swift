import Glibc

/// The signals that end or stop a process, held back while the terminal does not show what is typed: it has to be changed back before one
/// comes.
struct HeldSignals {
    private static let all = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP]

    private var set = sigset_t()
    /// The former signal mask.
    private var before = sigset_t()

    /// Holds them from now on.
    init() {
        sigemptyset(&set)
        for signal in Self.all { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, &before)
    }

    /// Whether one waits.
    var isOneWaiting: Bool {
        var waiting = sigset_t()
        return sigpending(&waiting) == 0 && Self.all.contains { sigismember(&waiting, $0) == 1 }
    }

    /// Lets them come: this process ends, or stops until it is continued, where one waits.
    func release() {
        var before = before
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }

    /// Holds them again.
    func hold() {
        var set = set
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }
}
