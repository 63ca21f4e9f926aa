#define _GNU_SOURCE
#include "follow.h"
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

// Giving way: as SCHED_IDLE a worker runs only while its processor has nothing else to do. For the scheduler that
// processor is an idle one, so a program that is woken there stays there. But where there is more to do the worker would
// hardly run at all: that must not last, so a second thread watches, for as long as way is given.

/// What a worker asks for at a time, in nanoseconds: the least there is (EEVDF, Linux 6.12).
enum { SLICE = 100 * 1000 };
/// How often the watch looks, in nanoseconds: the most that a request is delayed.
enum { LOOK = 4 * 1000 * 1000 };
/// After how many looks at an idle worker way is given no more, and after how many more the watch ends.
enum { QUIET = 10, UNUSED = 25 };
/// For how many seconds way is not given when a request had to wait.
enum { PENALTY = 2 };

/// sched_setattr(2), which glibc 2.36 does not have.
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t slice, deadline, period;
};

/// Threads started from here are as all others.
static bool schedule(pid_t thread, uint32_t policy) {
    enum { RESET_ON_FORK = 1 };
    struct scheduling wanted = {
        .size = sizeof wanted, .policy = policy, .flags = RESET_ON_FORK,
        .nice = getpriority(PRIO_PROCESS, (id_t)thread), .slice = policy == SCHED_OTHER ? SLICE : 0};
    return syscall(SYS_sched_setattr, thread, &wanted, 0) == 0;
}

// A program waits for each answer, and it takes some microseconds: who asks for little at a time is let in sooner
// when the processors are busy. Where the kernel doesn't know it, nothing is lost.
void ask_for_short_slices(pid_t thread) { schedule(thread, SCHED_OTHER); }

static void *go_there_and_back(void *argument) {
    *(bool *)argument = schedule(0, SCHED_IDLE) && schedule(0, SCHED_OTHER);
    return NULL;
}

bool may_give_way(void) {
    pthread_t thread;
    bool may = false;
    // On a thread of its own: without the right there is no way back.
    if (pthread_create(&thread, NULL, go_there_and_back, &may) != 0) return false;
    pthread_join(thread, NULL);
    return may;
}

/// Seconds; a clock that costs next to nothing.
static time_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return time.tv_sec;
}

/// Called with the lock held.
static void stop_giving_way(struct follower *follower, bool is_late) {
    if (!follower->gives_way) return;
    follower->gives_way = false;
    ask_for_short_slices(follower->thread);
    if (is_late) follower->resumes = now() + PENALTY;
}

/// Whether a request waits for the worker, or is being served by it.
static bool has_work(struct follower *follower) {
    if (atomic_load(&follower->is_serving)) return true;
    struct pollfd file = {.fd = follower->fd, .events = POLLIN};
    return poll(&file, 1, 0) > 0;
}

static void *watch(void *argument) {
    struct follower *follower = argument;
    ask_for_short_slices(0);
    run_anywhere(0);
    unsigned served = atomic_load(&follower->served), still = 0;
    for (bool goes_on = true; goes_on;) {
        nanosleep(&(struct timespec){.tv_nsec = LOOK}, NULL);
        unsigned before = served;
        served = atomic_load(&follower->served);
        still = served == before ? still + 1 : 0;
        if (pthread_mutex_trylock(&follower->lock) != 0) {
            // The worker has it, and may not come to give it back.
            if (still > 0) ask_for_short_slices(follower->thread);
            continue;
        }
        bool is_late = still > 0 && has_work(follower);
        if (is_late || still == QUIET) stop_giving_way(follower, is_late);
        goes_on = !follower->is_ending && (follower->gives_way || still < QUIET + UNUSED);
        follower->is_watched = goes_on;
        pthread_mutex_unlock(&follower->lock);
    }
    return NULL;
}

/// Called with the lock held.
static bool start_watch(struct follower *follower) {
    if (follower->is_watched) return true;
    if (follower->has_watch) pthread_join(follower->watch, NULL);
    follower->has_watch = follower->is_watched = pthread_create(&follower->watch, NULL, watch, follower) == 0;
    return follower->has_watch;
}

bool give_way(struct follower *follower) {
    pthread_mutex_lock(&follower->lock);
    bool can = !follower->gives_way && now() >= follower->resumes && start_watch(follower);
    if (can) follower->gives_way = schedule(0, SCHED_IDLE);
    pthread_mutex_unlock(&follower->lock);
    return can;
}

void give_way_no_more(struct follower *follower, bool is_late) {
    pthread_mutex_lock(&follower->lock);
    stop_giving_way(follower, is_late);
    pthread_mutex_unlock(&follower->lock);
}
