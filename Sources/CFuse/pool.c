#define _GNU_SOURCE
#include "CFuse.h"
#include "wire.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

// A request is answered on the thread that read it. At least one thread always reads, as long as there are fewer than
// the most allowed: who reads a request while nobody else waits for one starts another thread first. A thread that
// keeps finding others waiting goes.

/// A write's data and everything before it.
enum { BUFFER_SIZE = (1 << 20) + 4096 };
/// How often in a row a thread finds two others waiting before it goes.
enum { PATIENCE = 4096 };
/// Interrupts a read(2) that nothing will end. Programs ignore it by default.
enum { WAKE_SIGNAL = SIGURG };

struct worker {
    pthread_t thread;
    struct cfuse_pool *pool;
    atomic_bool reading;
    struct worker *next, **link;
};

struct cfuse_pool {
    struct fuse_session *session;
    int fd;
    unsigned max_threads;
    atomic_uint waiting;
    atomic_bool refusing, stopping;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    // Under the lock:
    unsigned threads;
    bool ended;
    struct worker *workers, *finished;
};

static void *work(void *argument);

/// Adds a worker; called with the lock held. Failing is no harm while there is another.
static int add_worker(struct cfuse_pool *pool) {
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker) return ENOMEM;
    worker->pool = pool;
    atomic_fetch_add(&pool->waiting, 1);
    int error = pthread_create(&worker->thread, NULL, work, worker);
    if (error) {
        atomic_fetch_sub(&pool->waiting, 1);
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
        free(finished);
        finished = next;
    }
}

static void grow(struct cfuse_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    struct worker *finished = pool->finished;
    pool->finished = NULL;
    if (pool->threads < pool->max_threads && !pool->ended && atomic_load(&pool->waiting) == 0) add_worker(pool);
    pthread_mutex_unlock(&pool->lock);
    join(finished);
}

static void refuse(struct cfuse_pool *pool, const struct wire_in_header *header) {
    if (header->opcode == WIRE_FORGET || header->opcode == WIRE_BATCH_FORGET || header->opcode == WIRE_INTERRUPT)
        return;
    struct wire_out_header answer = {.length = sizeof answer, .error = -ENOTCONN, .unique = header->unique};
    // Fails when the caller is gone, and then nobody waits for it.
    if (write(pool->fd, &answer, sizeof answer) < 0) return;
}

/// Reads one request. False when there will be no more for this thread.
static bool receive(struct worker *worker, void *buffer, size_t *size) {
    for (;;) {
        atomic_store(&worker->reading, true);
        ssize_t got = -1;
        errno = ECANCELED;
        if (!atomic_load(&worker->pool->stopping)) got = read(worker->pool->fd, buffer, BUFFER_SIZE);
        atomic_store(&worker->reading, false);
        if (got >= (ssize_t)sizeof(struct wire_in_header)) {
            *size = (size_t)got;
            return true;
        }
        // ENOENT: the request was interrupted before anyone read it.
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
    if (ended) pool->ended = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *argument) {
    struct worker *worker = argument;
    struct cfuse_pool *pool = worker->pool;
    // Who started this may block all signals, as Dispatch's threads do.
    sigset_t wake;
    sigemptyset(&wake);
    sigaddset(&wake, WAKE_SIGNAL);
    pthread_sigmask(SIG_UNBLOCK, &wake, NULL);
    void *buffer = malloc(BUFFER_SIZE);
    unsigned crowded = 0;
    bool ended = false;
    size_t size;
    while (buffer) {
        // Counted as waiting since its start or since its last request.
        ended = !receive(worker, buffer, &size);
        if (atomic_fetch_sub(&pool->waiting, 1) == 1 && !ended) grow(pool);
        if (ended) break;
        if (atomic_load_explicit(&pool->refusing, memory_order_relaxed)) refuse(pool, buffer);
        else cfuse_process(pool->session, buffer, size);
        unsigned others = atomic_load(&pool->waiting);
        crowded = others >= 2 ? crowded + 1 : 0;
        if (crowded > PATIENCE) break;
        atomic_fetch_add(&pool->waiting, 1);
    }
    if (!buffer) atomic_fetch_sub(&pool->waiting, 1);
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

struct cfuse_pool *cfuse_pool_new(struct fuse_session *session, unsigned max_threads) {
    struct cfuse_pool *pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pool->session = session;
    pool->fd = fuse_session_fd(session);
    pool->max_threads = max_threads < 2 ? 2 : max_threads;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    install_wake_signal();
    return pool;
}

int cfuse_pool_start(struct cfuse_pool *pool) {
    pthread_mutex_lock(&pool->lock);
    int error = add_worker(pool);
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
    atomic_store(&pool->refusing, true);
    pthread_mutex_lock(&pool->lock);
    pool->ended = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
}

void cfuse_pool_stop(struct cfuse_pool *pool) {
    atomic_store(&pool->stopping, true);
    pthread_mutex_lock(&pool->lock);
    pool->ended = true;
    // A signal just before read(2) is lost, so it is repeated until all are gone.
    while (pool->threads > 0) {
        for (struct worker *worker = pool->workers; worker; worker = worker->next)
            if (atomic_load(&worker->reading)) pthread_kill(worker->thread, WAKE_SIGNAL);
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
}

void cfuse_pool_free(struct cfuse_pool *pool) {
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
