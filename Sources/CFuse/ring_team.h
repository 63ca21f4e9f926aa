// The threads beside a ring that serve what may wait: the ring's own thread goes on taking requests meanwhile.
#ifndef CFUSE_RING_TEAM_H
#define CFUSE_RING_TEAM_H
#include "pace.h"
#include <pthread.h>
#include <stdbool.h>

struct service;
struct ring_entry;

struct team {
    struct service *service;
    unsigned max_threads;
    struct pace pace;
    pthread_mutex_t lock;
    pthread_cond_t work, gone;
    // Under the lock:
    struct ring_entry *first, **end;
    unsigned waiting, threads, idle;
    bool stopping;
};

void team_init(struct team *team, struct service *service, unsigned max_threads);
/// Whether a request may take so long that others should not wait for it.
bool team_is_needed(struct team *team, const struct wire_in_header *request);
/// Has a request served by one of the threads. False when there is none and none to be had.
bool team_take(struct team *team, struct ring_entry *entry);
/// Serves a request on the calling thread.
void team_serve(struct team *team, struct ring_entry *entry);
/// Waits until all is served and the threads are gone.
void team_stop(struct team *team);
void team_destroy(struct team *team);

#endif
