internal import CFuse

/// Optional handling of crashes for daemons.
package enum CrashHandling {
    /// From now on a crash (a trap, a bad address, abort(3)) terminates this process immediately, with one line on standard
    /// error and an exit status of 128 plus the signal number. If no handler can run, as after a stack overflow in a thread
    /// without an alternate stack, the signal terminates it just as fast. Only root may inspect the process (PR_SET_DUMPABLE).
    ///
    /// A core dump would first wait for all threads (core(5)), and one of them may be waiting for this process's own mount:
    /// the mount and all its users would hang.
    package static func endProcessAtOnce() {
        cfuse_end_at_faults()
    }

    /// Also writes that line to a descriptor, which stays open: a log that is not standard error.
    package static func report(to descriptor: Int32) { cfuse_report_faults_to(descriptor) }
}
