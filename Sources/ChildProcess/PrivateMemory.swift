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
    /// The limit is 1 where that is possible, because the kernel ignores a limit of 0 where it hands the dump to a program. Only root
    /// can raise a hard limit of 0.
    /// - Returns: False with errno set where it is impossible.
    package static func forbidCoreDumps() -> Bool {
        let core = __rlimit_resource_t(RLIMIT_CORE.rawValue)
        var (one, none) = (rlimit(rlim_cur: 1, rlim_max: 1), rlimit(rlim_cur: 0, rlim_max: 0))
        return setrlimit(core, &one) == 0 || setrlimit(core, &none) == 0
    }
}
