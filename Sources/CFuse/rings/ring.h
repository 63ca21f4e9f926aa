// One processor's ring and the thread that is bound to it.
#ifndef CFUSE_RING_H
#define CFUSE_RING_H
#include "ring_workers.h"
#include "ring_idle_class.h"
#include <liburing.h>
#include <semaphore.h>
#include <stdatomic.h>

struct ring;

/// The kernel's queue of one processor. A ring serves its own queue, and those of processors without a ring.
struct queue {
    struct ring *ring;
    uint16_t number;
    /// Its first entry, until the kernel has it.
    struct ring_entry *first;
    /// The number of its entries, and of those that wait in the kernel for a request. Only changed by the ring's
    /// thread.
    unsigned entries, waiting;
    /// The kernel refused an entry.
    bool is_refused;
    struct queue *next;
};

struct ring {
    struct service *service;
    struct io_uring io;
    struct queue *queues;
    struct workers workers;
    struct ring_load load;
    struct idle_class *idle_class;
    int processor;
    pthread_t thread;
    /// Posted when the kernel knows of the connection.
    sem_t start;
    atomic_bool stopping;
    /// Signalled when other threads have answered.
    int wake;
    uint64_t woken;
    /// Whether a program waits for an entry that is not submitted yet.
    bool is_awaited;
    /// Since when the kernel accepts no answers, or 0.
    uint64_t stuck_since;
    _Atomic(struct ring_entry *) answered;
    struct ring_entry *entries;
};

/// Creates a ring and its thread, which waits for `ring_start`. 0 or an errno.
int ring_init(struct ring *ring, struct service *service, struct idle_class *idle_class, int processor, unsigned max_threads);
/// Adds a queue before the start. False if out of memory.
bool ring_add_queue(struct ring *ring, unsigned number);
/// Makes the thread give its entries to the kernel, and serve.
void ring_start(struct ring *ring);
/// Gives a served and answered entry back to the kernel. Any thread.
void ring_give_back(struct ring_entry *entry);
/// Ends the workers, then the thread.
void ring_stop(struct ring *ring);
/// Frees a stopped ring.
void ring_destroy(struct ring *ring);

#endif
