// Sees to it that a program stays on its processor while it is answered, where that harms nobody.
#ifndef CFUSE_RING_IDLE_CLASS_H
#define CFUSE_RING_IDLE_CLASS_H
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// A ring's thread, as the idle class sees it.
struct ring_load {
    pid_t thread;
    /// Requests that it served itself, and handed on to its workers. The thread counts.
    atomic_uint served, handed_on;
    // The watch's own:
    bool yields, waits;
    unsigned served_seen, handed_on_seen;
    uint64_t delay, since, hold, hold_until;
};

struct idle_class {
    unsigned count;
    struct ring_load **load;
    pthread_t thread;
    bool is_started;
    sem_t asked;
    atomic_bool asleep, stopping;
};

/// Starts to watch. What is watched must not change until `idle_class_stop`. Without the right to it, nothing is watched.
void idle_class_start(struct idle_class *idle_class, struct ring_load **load, unsigned count);
/// Ends what `idle_class_start` began.
void idle_class_stop(struct idle_class *idle_class);

/// Counts a request, on the ring's thread.
void idle_class_count(struct idle_class *idle_class, struct ring_load *load, bool is_handed_on);
/// Has the calling thread neither stop a program by being woken, nor yield to it.
void idle_class_settle(void);

#endif
