internal import Glibc

/// Low priority for the engine: programs wait for the filesystem, but not for the store.
enum BackgroundPriority {
    /// Low enough to yield, but not so low that a thread with the tree's lock waits long on a busy machine.
    private static let nice: Int32 = 5

    /// Lowers the priority of the calling thread and of those that it starts from now on (on Linux, setpriority(2) applies to
    /// a thread). Tasks move between threads, so each piece of work calls it again; it costs a system call.
    static func take() {
        guard getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0) < nice else { return }
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, nice)
    }
}
