internal import CLinux
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
        runAnywhere()
    }

    /// A thread that was started on behalf of a program's request is kept on that program's processor, and may give way
    /// there to everything else. The main thread never is.
    private static func runAnywhere() {
        var parameters = sched_param()
        _ = sched_setscheduler(0, SCHED_OTHER, &parameters)
        withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { set in
            guard let address = set.baseAddress else { return }
            set.initializeMemory(as: UInt8.self, repeating: 0)
            guard cl_processors_of(getpid(), UInt(set.count), address) == 0 else { return }
            _ = cl_set_processors_of(0, UInt(set.count), address)
        }
    }
}
