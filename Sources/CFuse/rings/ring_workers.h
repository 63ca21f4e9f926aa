// The threads that serve a ring's blocking requests, while the ring's own thread continues to accept requests.
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
/// Passes a request to one of the threads. False if there is none and none can be created.
bool workers_take(struct workers *workers, struct ring_entry *entry);
/// Serves a request on the calling thread.
void workers_serve(struct workers *workers, struct ring_entry *entry);
/// Waits until all requests are served and the threads have ended.
void workers_stop(struct workers *workers);
void workers_destroy(struct workers *workers);

#endif
