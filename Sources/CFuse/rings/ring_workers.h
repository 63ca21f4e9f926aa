// The threads beside a ring that serve what may wait: the ring's own thread goes on taking requests meanwhile.
#ifndef CFUSE_RING_WORKERS_H
#define CFUSE_RING_WORKERS_H
#include "sync_latency.h"
#include <pthread.h>
#include <stdbool.h>

struct service;
struct ring_entry;

struct workers {
    struct service *service;
    unsigned max_threads;
    struct sync_latency sync_latency;
    pthread_mutex_t lock;
    pthread_cond_t work, gone;
    // Under the lock:
    struct ring_entry *first, **end;
    unsigned waiting, threads, idle;
    bool stopping;
};

void workers_init(struct workers *workers, struct service *service, unsigned max_threads);
/// Whether a request may take so long that others should not wait for it.
bool workers_is_needed(struct workers *workers, const struct wire_in_header *request);
/// Has a request served by one of the threads. False when there is none and none to be had.
bool workers_take(struct workers *workers, struct ring_entry *entry);
/// Serves a request on the calling thread.
void workers_serve(struct workers *workers, struct ring_entry *entry);
/// Waits until all is served and the threads are gone.
void workers_stop(struct workers *workers);
void workers_destroy(struct workers *workers);

#endif
