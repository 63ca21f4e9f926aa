import CLinux
import Glibc

/// The limits of this process's resources.
enum ResourceLimits {
    /// glibc creates up to eight heaps per processor, and free memory in one cannot be used by another. Only a few of our
    /// threads work at the same time. Free memory at the end of a heap is not returned immediately: it is soon needed
    /// again, and returned pages have to be zeroed.
    static func limitHeaps() {
        _ = cl_malloc_option(CL_M_ARENA_MAX, 2)
        _ = cl_malloc_option(CL_M_TRIM_THRESHOLD, 1 << 20)
    }

    /// Raises the limit of open files as far as possible: an unprivileged mount needs one for each open file.
    static func raiseDescriptorLimit() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
