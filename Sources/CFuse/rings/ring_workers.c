#include "ring_workers.h"
#include "CFuse.h"
#include "ring_entry.h"
#include "ring_idle_class.h"
#include "service.h"

/// The idle time after which a thread ends, in seconds.
enum { IDLE_SECONDS = 10 };

void workers_init(struct workers *workers, struct service *service, unsigned max_threads) {
    *workers = (struct workers){.service = service, .max_threads = max_threads};
    workers->end = &workers->first;
    pthread_mutex_init(&workers->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&workers->work, &monotonic);
    pthread_cond_init(&workers->gone, NULL);
    pthread_condattr_destroy(&monotonic);
}

/// The next request, or NULL if this thread is not needed; called with the lock held.
static struct ring_entry *next(struct workers *workers) {
    struct timespec end = clock_in_seconds(IDLE_SECONDS);
    int error = 0;
    workers->idle++;
    while (!workers->first && !workers->stopping && error == 0)
        error = pthread_cond_timedwait(&workers->work, &workers->lock, &end);
    workers->idle--;
    struct ring_entry *entry = workers->first;
    if (!entry) return NULL;
    workers->first = entry->next;
    if (!workers->first) workers->end = &workers->first;
    workers->waiting--;
    return entry;
}

static void *work(void *argument) {
    struct workers *workers = argument;
    cfuse_prepare_thread_for_faults();
    // Without the current scheduling of the ring's thread.
    idle_class_settle();
    pthread_mutex_lock(&workers->lock);
    struct ring_entry *entry;
    while ((entry = next(workers))) {
        pthread_mutex_unlock(&workers->lock);
        workers_serve(workers, entry);
        pthread_mutex_lock(&workers->lock);
    }
    workers->threads--;
    pthread_cond_signal(&workers->gone);
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

/// Called with the lock held.
static void add_thread(struct workers *workers) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, workers) != 0) return;
    pthread_detach(thread);
    workers->threads++;
}

bool workers_is_needed(struct workers *workers, const struct wire_in_header *request) {
    return !service_answers_at_once(workers->service, request) && !sync_latency_allows(&workers->sync_latency, request);
}

void workers_serve(struct workers *workers, struct ring_entry *entry) {
    uint64_t begin = sync_latency_begin(entry_header(entry));
    entry_serve(entry, workers->service);
    sync_latency_note(&workers->sync_latency, begin);
}

bool workers_take(struct workers *workers, struct ring_entry *entry) {
    pthread_mutex_lock(&workers->lock);
    if (workers->idle <= workers->waiting && workers->threads < workers->max_threads && !workers->stopping) add_thread(workers);
    bool taken = workers->threads > 0 && !workers->stopping;
    if (taken) {
        entry->next = NULL;
        *workers->end = entry;
        workers->end = &entry->next;
        workers->waiting++;
        pthread_cond_signal(&workers->work);
    }
    pthread_mutex_unlock(&workers->lock);
    return taken;
}

void workers_stop(struct workers *workers) {
    pthread_mutex_lock(&workers->lock);
    workers->stopping = true;
    pthread_cond_broadcast(&workers->work);
    while (workers->threads > 0) pthread_cond_wait(&workers->gone, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
}

void workers_destroy(struct workers *workers) {
    pthread_cond_destroy(&workers->work);
    pthread_cond_destroy(&workers->gone);
    pthread_mutex_destroy(&workers->lock);
}
