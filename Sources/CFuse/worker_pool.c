#define _GNU_SOURCE
#include "CFuse.h"
#include "clock.h"
#include "sync_latency.h"
#include "libfuse_hooks.h"
#include "rings/rings.h"
#include "service.h"
#include "sched_slice.h"
#include "wire.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

// A request is answered on the thread that read it, and one thread at a time reads: the leader. It hands over the lead
// before it serves a request, to the thread that became idle last or to a new one, so that there is a leader as long as
// there are fewer threads than the maximum. Requests that can be answered immediately it serves as the leader, and also
// syncs while the disk syncs quickly: the next request then finds the same thread, on the same processor, without lock
// contention.

/// A write's data and everything before it.
enum { BUFFER_SIZE = (1 << 20) + 4096 };
/// The idle time after which a thread ends, in seconds.
enum { IDLE_SECONDS = 10 };
/// Interrupts a read(2) that would never return. Programs ignore it by default.
enum { WAKE_SIGNAL = SIGURG };

struct worker {
    pthread_t thread;
    struct cfuse_pool *pool;
    atomic_bool reading;
    // Under the pool's lock:
    struct worker *next, **link;
    struct worker *below;
    pthread_cond_t turn;
    bool leads;
};

struct cfuse_pool {
    struct service service;
    struct rings *rings;
    struct sync_latency sync_latency;
    unsigned max_threads;
    atomic_bool stopping;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_condattr_t monotonic;
    // Under the lock:
    unsigned threads;
    bool has_leader, ended;
    struct worker *workers, *resting, *finished;
};

static void *work(void *argument);

/// Adds a worker that becomes the leader; called with the lock held.
static int add_leader(struct cfuse_pool *pool) {
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker) return ENOMEM;
    worker->pool = pool;
    worker->leads = true;
    pthread_cond_init(&worker->turn, &pool->monotonic);
    int error = pthread_create(&worker->thread, NULL, work, worker);
    if (error) {
        pthread_cond_destroy(&worker->turn);
        free(worker);
        return error;
    }
    worker->next = pool->workers;
    worker->link = &pool->workers;
    if (worker->next) worker->next->link = &worker->next;
    pool->workers = worker;
    pool->threads++;
    return 0;
}

static void join(struct worker *finished) {
    while (finished) {
        struct worker *next = finished->next;
        pthread_join(finished->thread, NULL);
        pthread_cond_destroy(&finished->turn);
        free(finished);
        finished = next;
    }
}

static void hand_over(struct worker *worker) {
    struct cfuse_pool *pool = worker->pool;
    pthread_mutex_lock(&pool->lock);
    struct worker *finished = pool->finished, *next = pool->resting;
    pool->finished = NULL;
    worker->leads = false;
    if (next) {
        pool->resting = next->below;
        next->leads = true;
        pthread_cond_signal(&next->turn);
    } else {
        // Without another thread, the first one that becomes free continues reading.
        pool->has_leader = pool->threads < pool->max_threads && !pool->ended && add_leader(pool) == 0;
    }
    pthread_mutex_unlock(&pool->lock);
    join(finished);
}

static void stop_resting(struct worker *worker) {
    struct worker **link = &worker->pool->resting;
    while (*link != worker) link = &(*link)->below;
    *link = worker->below;
}

/// Waits for the lead; called with the lock held. False if the thread is no longer needed.
static bool rest(struct worker *worker) {
    struct cfuse_pool *pool = worker->pool;
    worker->below = pool->resting;
    pool->resting = worker;
    struct timespec end = clock_in_seconds(IDLE_SECONDS);
    while (!worker->leads) {
        int error = atomic_load(&pool->stopping) ? ECANCELED : pthread_cond_timedwait(&worker->turn, &pool->lock, &end);
        if (worker->leads) return true;
        if (error != 0 && error != EINTR) {
            stop_resting(worker);
            return false;
        }
    }
    return true;
}

static bool take_lead(struct worker *worker) {
    struct cfuse_pool *pool = worker->pool;
    pthread_mutex_lock(&pool->lock);
    if (!pool->has_leader) pool->has_leader = worker->leads = true;
    bool leads = worker->leads || rest(worker);
    pthread_mutex_unlock(&pool->lock);
    return leads;
}

/// Reads one request. False if there will be no more for this thread.
static bool receive(struct worker *worker, void *buffer, size_t *size) {
    for (;;) {
        atomic_store(&worker->reading, true);
        ssize_t got = -1;
        errno = ECANCELED;
        if (!atomic_load(&worker->pool->stopping)) got = read(worker->pool->service.fd, buffer, BUFFER_SIZE);
        atomic_store(&worker->reading, false);
        if (got >= (ssize_t)sizeof(struct wire_in_header)) {
            *size = (size_t)got;
            return true;
        }
        // ENOENT: the request was interrupted before it was read.
        if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == ENOENT)) continue;
        return false;
    }
}

static void leave(struct worker *worker, bool ended) {
    struct cfuse_pool *pool = worker->pool;
    pthread_mutex_lock(&pool->lock);
    *worker->link = worker->next;
    if (worker->next) worker->next->link = worker->link;
    worker->next = pool->finished;
    pool->finished = worker;
    pool->threads--;
    if (worker->leads) pool->has_leader = false;
    if (ended) pool->ended = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

static void start_rings(struct cfuse_pool *pool) {
    if (pool->service.has_rings) rings_start(pool->rings);
    else dprintf(STDERR_FILENO, "fuse: enable_uring was turned off during the mount: requests are read from the device\n");
}

/// The service is the pool's first member.
static void give_up(struct service *service) { cfuse_pool_end((struct cfuse_pool *)service); }

static void *work(void *argument) {
    struct worker *worker = argument;
    cfuse_prepare_thread_for_faults();
    request_short_slice(0);
    struct cfuse_pool *pool = worker->pool;
    // The starting thread may block all signals, as Dispatch's threads do.
    sigset_t wake;
    sigemptyset(&wake);
    sigaddset(&wake, WAKE_SIGNAL);
    pthread_sigmask(SIG_UNBLOCK, &wake, NULL);
    void *buffer = malloc(BUFFER_SIZE);
    bool ended = false;
    size_t size;
    while (buffer) {
        ended = !receive(worker, buffer, &size);
        if (ended) break;
        struct wire_in_header *request = buffer;
        uint64_t begin = sync_latency_begin(request);
        bool keeps_lead = service_answers_at_once(&pool->service, request) || sync_latency_allows(&pool->sync_latency, request);
        if (!keeps_lead) hand_over(worker);
        hooks_serve(&pool->service, request, size);
        sync_latency_note(&pool->sync_latency, begin);
        // The kernel holds back all other requests until the promised rings exist.
        if (request->opcode == WIRE_INIT && pool->rings) start_rings(pool);
        // The request may not be answered, or not by this thread.
        if (!keeps_lead && !take_lead(worker)) break;
    }
    free(buffer);
    leave(worker, ended);
    return NULL;
}

static void ignore_signal(int number) {}

/// Without a handler the signal would not end read(2).
static void install_wake_signal(void) {
    struct sigaction now;
    if (sigaction(WAKE_SIGNAL, NULL, &now) != 0) return;
    if (now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN) return;
    struct sigaction action = {.sa_handler = ignore_signal};
    sigaction(WAKE_SIGNAL, &action, NULL);
}

struct cfuse_pool *cfuse_pool_new(struct fuse_session *session, unsigned max_threads, bool answers_at_once) {
    struct cfuse_pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pool->service = (struct service){
        .session = session, .fd = fuse_session_fd(session), .answers_at_once = answers_at_once, .give_up = give_up};
    pool->max_threads = max_threads < 2 ? 2 : max_threads;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_condattr_init(&pool->monotonic);
    pthread_condattr_setclock(&pool->monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->changed, &pool->monotonic);
    install_wake_signal();
    return pool;
}

bool cfuse_pool_make_rings(struct cfuse_pool *pool) {
    if (!pool->rings) pool->rings = rings_new(&pool->service, pool->max_threads);
    return pool->rings;
}

int cfuse_pool_start(struct cfuse_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    int error = add_leader(pool);
    pool->has_leader = error == 0;
    pthread_mutex_unlock(&pool->lock);
    return error;
}

void cfuse_pool_wait(struct cfuse_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    while (!pool->ended && pool->threads > 0) pthread_cond_wait(&pool->changed, &pool->lock);
    pool->ended = true;
    pthread_mutex_unlock(&pool->lock);
}

void cfuse_pool_end(struct cfuse_pool *pool) {
    atomic_store(&pool->service.refusing, true);
    pthread_mutex_lock(&pool->lock);
    pool->ended = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

void cfuse_pool_stop(struct cfuse_pool *pool) {
    atomic_store(&pool->stopping, true);
    pthread_mutex_lock(&pool->lock);
    pool->ended = true;
    // A signal just before read(2) is lost, so it is repeated until all threads are gone.
    while (pool->threads > 0) {
        for (struct worker *worker = pool->workers; worker; worker = worker->next)
            if (atomic_load(&worker->reading)) pthread_kill(worker->thread, WAKE_SIGNAL);
        for (struct worker *worker = pool->resting; worker; worker = worker->below) pthread_cond_signal(&worker->turn);
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += 10 * 1000 * 1000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&pool->changed, &pool->lock, &until);
    }
    struct worker *finished = pool->finished;
    pool->finished = NULL;
    pthread_mutex_unlock(&pool->lock);
    join(finished);
    if (pool->rings) rings_stop(pool->rings);
}

void cfuse_pool_free(struct cfuse_pool *pool) {
    if (pool->rings) rings_free(pool->rings);
    pthread_cond_destroy(&pool->changed);
    pthread_condattr_destroy(&pool->monotonic);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
