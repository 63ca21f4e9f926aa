#define _GNU_SOURCE
#include "sched_slice.h"
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The time slice that a worker requests, in nanoseconds: the minimum (EEVDF, Linux 6.12).
enum { SLICE = 100 * 1000 };

/// sched_setattr(2), which glibc 2.36 does not have.
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice, deadline, period;
};

// A program waits for each answer, which takes a few microseconds: a thread with a short slice is scheduled sooner if
// the processors are busy. On kernels without support it has no effect.
void request_short_slice(pid_t thread) {
    enum { RESET_ON_FORK = 1 };
    struct scheduling wanted = {
        .size = sizeof wanted, .policy = SCHED_OTHER, .flags = RESET_ON_FORK,
        .nice = getpriority(PRIO_PROCESS, (id_t)thread), .slice = SLICE};
    syscall(SYS_sched_setattr, thread, &wanted, 0);
}
