#include "ring_team.h"
#include "CFuse.h"
#include "ring_entry.h"
#include "ring_watch.h"
#include "service.h"

/// For how many seconds a thread rests before it goes.
enum { PATIENCE = 10 };

void team_init(struct team *team, struct service *service, unsigned max_threads) {
    *team = (struct team){.service = service, .max_threads = max_threads};
    team->end = &team->first;
    pthread_mutex_init(&team->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&team->work, &monotonic);
    pthread_cond_init(&team->gone, NULL);
    pthread_condattr_destroy(&monotonic);
}

/// The next request, or NULL when this thread is not needed; called with the lock held.
static struct ring_entry *next(struct team *team) {
    struct timespec end = clock_in_seconds(PATIENCE);
    int error = 0;
    team->idle++;
    while (!team->first && !team->stopping && error == 0)
        error = pthread_cond_timedwait(&team->work, &team->lock, &end);
    team->idle--;
    struct ring_entry *entry = team->first;
    if (!entry) return NULL;
    team->first = entry->next;
    if (!team->first) team->end = &team->first;
    team->waiting--;
    return entry;
}

static void *work(void *argument) {
    struct team *team = argument;
    cfuse_prepare_thread_for_faults();
    // Not as the ring's thread is just now.
    watch_settle();
    pthread_mutex_lock(&team->lock);
    struct ring_entry *entry;
    while ((entry = next(team))) {
        pthread_mutex_unlock(&team->lock);
        team_serve(team, entry);
        pthread_mutex_lock(&team->lock);
    }
    team->threads--;
    pthread_cond_signal(&team->gone);
    pthread_mutex_unlock(&team->lock);
    return NULL;
}

/// Called with the lock held.
static void add_thread(struct team *team) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, team) != 0) return;
    pthread_detach(thread);
    team->threads++;
}

bool team_is_needed(struct team *team, const struct wire_in_header *request) {
    return !service_answers_at_once(team->service, request) && !pace_allows(&team->pace, request);
}

void team_serve(struct team *team, struct ring_entry *entry) {
    uint64_t begin = pace_begin(entry_header(entry));
    entry_serve(entry, team->service);
    pace_note(&team->pace, begin);
}

bool team_take(struct team *team, struct ring_entry *entry) {
    pthread_mutex_lock(&team->lock);
    if (team->idle <= team->waiting && team->threads < team->max_threads && !team->stopping) add_thread(team);
    bool taken = team->threads > 0 && !team->stopping;
    if (taken) {
        entry->next = NULL;
        *team->end = entry;
        team->end = &entry->next;
        team->waiting++;
        pthread_cond_signal(&team->work);
    }
    pthread_mutex_unlock(&team->lock);
    return taken;
}

void team_stop(struct team *team) {
    pthread_mutex_lock(&team->lock);
    team->stopping = true;
    pthread_cond_broadcast(&team->work);
    while (team->threads > 0) pthread_cond_wait(&team->gone, &team->lock);
    pthread_mutex_unlock(&team->lock);
}

void team_destroy(struct team *team) {
    pthread_cond_destroy(&team->work);
    pthread_cond_destroy(&team->gone);
    pthread_mutex_destroy(&team->lock);
}
