internal import CLinux
internal import Glibc

/// Keeps what is in a process's memory, such as a password, from core dumps and from other processes.
package enum PrivateMemory {
    /// Has this process leave no core dump, neither a file nor one that the kernel hands to a program (core(5)). Only root can trace
    /// it, or read its memory and its environment. What it executes is dumpable again.
    package static func close() {
        _ = cl_prctl(CL_PR_SET_DUMPABLE, 0, 0, 0, 0)
    }

    /// The same against core dumps only, also for what this process executes.
    ///
    /// The limit is 1 where that is possible, because the kernel ignores a limit of 0 where it hands the dump to a program.
    /// - Returns: False with errno set where it is impossible.
    package static func forbidCoreDumps() -> Bool {
        let core = __rlimit_resource_t(RLIMIT_CORE.rawValue)
        var limit = rlimit()
        guard getrlimit(core, &limit) == 0 else { return false }
        limit = rlimit(rlim_cur: min(1, limit.rlim_max), rlim_max: min(1, limit.rlim_max))
        return setrlimit(core, &limit) == 0
    }
}
