// Keeps a program on its processor while it is answered, if that does not delay others.
#ifndef CFUSE_RING_IDLE_CLASS_H
#define CFUSE_RING_IDLE_CLASS_H
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/// The state of a ring's thread for the idle class.
struct ring_load {
    pid_t thread;
    /// The numbers of requests that it served itself, and that it handed over to its workers. Counted by the thread.
    atomic_uint served, handed_on;
    // Only used by the watching thread:
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

/// Starts watching. The set of watched threads must not change until `idle_class_stop`. Without the privilege, nothing
/// is watched.
void idle_class_start(struct idle_class *idle_class, struct ring_load **load, unsigned count);
/// Undoes `idle_class_start`.
void idle_class_stop(struct idle_class *idle_class);

/// Counts a request, on the ring's thread.
void idle_class_count(struct idle_class *idle_class, struct ring_load *load, bool is_handed_on);
/// Makes the calling thread neither preempt a program when it is woken, nor yield to it.
void idle_class_settle(void);

#endif
