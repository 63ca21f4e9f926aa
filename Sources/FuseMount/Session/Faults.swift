internal import CFuse

/// What a daemon does about faults of its own, for one that asks for it: nothing is installed otherwise.
public enum Faults {
    /// From now on a fault (a trap, a bad address, abort(3)) ends this process at once, with one line on standard error
    /// and 128 and the signal's number as its status. Where no handler can run, as in a thread whose stack is full and that
    /// has no other, the signal itself ends it as soon. Nobody but root may look into the process (PR_SET_DUMPABLE).
    ///
    /// A core dump would first wait for every thread (core(5)), and one that waits for this process's own mount could
    /// then never be answered: the mount, and all who use it, would hang.
    public static func endProcessAtOnce() {
        cfuse_end_at_faults()
    }
}
