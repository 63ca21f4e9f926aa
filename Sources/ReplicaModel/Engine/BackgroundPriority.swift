internal import Glibc

/// Lets programs go first: they wait for what they asked the filesystem, nobody for the store.
enum BackgroundPriority {
    /// Enough to go behind, too little for a thread that holds the tree's lock to wait long on a busy machine.
    private static let nice: Int32 = 5

    /// Makes the calling thread, and those that it starts from now on, go behind others (setpriority(2): on Linux the
    /// call is for a thread). Tasks move between threads, so each piece of work says it anew; it costs a system call.
    static func take() {
        guard getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) < nice else { return }
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, nice)
    }
}
