// Sees to it that a program stays on its processor while it is answered, where that harms nobody.
#ifndef CFUSE_RING_WATCH_H
#define CFUSE_RING_WATCH_H
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// A ring's thread, as the watch sees it.
struct watched {
    pid_t thread;
    /// Requests that it served itself, and handed on to its team. The thread counts.
    atomic_uint served, handed_on;
    // The watch's own:
    bool yields, waits;
    unsigned served_seen, handed_on_seen;
    uint64_t delay, since, hold, hold_until;
};

struct watch {
    unsigned count;
    struct watched **watched;
    pthread_t thread;
    bool is_started;
    sem_t asked;
    atomic_bool asleep, stopping;
};

/// Starts to watch. What is watched must not change until `watch_stop`. Without the right to it, nothing is watched.
void watch_start(struct watch *watch, struct watched **watched, unsigned count);
/// Ends what `watch_start` began.
void watch_stop(struct watch *watch);

/// Counts a request, on the ring's thread.
void watch_count(struct watch *watch, struct watched *watched, bool is_handed_on);
/// Has the calling thread neither stop a program by being woken, nor yield to it.
void watch_settle(void);

#endif
