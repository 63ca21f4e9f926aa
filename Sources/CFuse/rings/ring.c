#define _GNU_SOURCE
#include "ring.h"
#include "CFuse.h"
#include "clock.h"
#include "ring_entry.h"
#include "ring_setup.h"
#include "service.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

// The kernel puts a request into the ring of the calling program's processor, to which the ring's thread is bound: no
// thread is woken on another processor, which would be the largest cost (docs/PERFORMANCE.md). The thread serves
// requests that can be answered immediately, and leaves all others to its workers, which it starts so that they inherit
// its processor.

/// The entries of a queue that wait for requests at any time. A request without a free entry waits until another is
/// answered.
enum { SPARE = 16 };
/// If more entries than this are in use, returned ones release their large buffers.
enum { BUSY = 4 };

/// How long an answer that the kernel does not accept is retried, and the pause in between, in nanoseconds.
static const uint64_t RETRY_LIMIT = 10000000000;
enum { RETRY_PAUSE = 2 * 1000 * 1000 };

static __thread struct ring *own;

static void *work(void *argument);

/// Undone by `ring_destroy`.
static int make(struct ring *ring) {
    int error = ring_set_up(&ring->io);
    if (error) return error;
    ring->wake = eventfd(0, EFD_CLOEXEC);
    if (ring->wake >= 0) return 0;
    error = errno;
    ring_tear_down(&ring->io);
    return error;
}

int ring_init(struct ring *ring, struct service *service, struct idle_class *idle_class, int processor, unsigned max_threads) {
    *ring = (struct ring){.service = service, .idle_class = idle_class, .processor = processor};
    int error = make(ring);
    if (error) return error;
    workers_init(&ring->workers, service, max_threads);
    sem_init(&ring->start, 0, 0);
    error = pthread_create(&ring->thread, NULL, work, ring);
    if (error) ring_destroy(ring);
    return error;
}

bool ring_add_queue(struct ring *ring, unsigned number) {
    struct queue *queue = calloc(1, sizeof *queue);
    if (!queue) return false;
    *queue = (struct queue){.ring = ring, .number = (uint16_t)number, .next = ring->queues};
    ring->queues = queue;
    queue->first = entry_new(queue, ring->service->fd);
    return queue->first;
}

static struct io_uring_sqe *submission(struct ring *ring) {
    struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->io);
    // Submitted entries leave the queue immediately.
    while (!sqe) {
        io_uring_submit(&ring->io);
        sqe = io_uring_get_sqe(&ring->io);
    }
    return sqe;
}

static void command(struct ring_entry *entry, uint32_t operation, const struct iovec *memory) {
    struct queue *queue = entry->queue;
    struct io_uring_sqe *sqe = submission(queue->ring);
    io_uring_prep_rw(IORING_OP_URING_CMD, sqe, entry->fd, memory, memory ? 2 : 0, 0);
    sqe->cmd_op = operation;
    entry->committed = memory ? 0 : entry->unique;
    struct wire_ring_command command = {.commit = entry->committed, .queue = queue->number};
    memcpy(sqe->cmd, &command, sizeof command);
    io_uring_sqe_set_data(sqe, entry);
    queue->waiting++;
}

static void hand_over(struct ring_entry *entry) {
    struct queue *queue = entry->queue;
    struct ring *ring = queue->ring;
    entry->all = ring->entries;
    ring->entries = entry;
    queue->entries++;
    struct iovec memory[2] = {
        {.iov_base = entry->header, .iov_len = sizeof *entry->header},
        {.iov_base = entry->payload, .iov_len = ENTRY_PAYLOAD}};
    command(entry, WIRE_RING_REGISTER, memory);
    // `memory` has been read by then.
    io_uring_submit(&ring->io);
}

static bool add_entry(struct queue *queue) {
    struct ring_entry *entry = entry_new(queue, queue->ring->service->fd);
    if (entry) hand_over(entry);
    return entry;
}

static void commit(struct ring_entry *entry) {
    if (entry->queue->entries - entry->queue->waiting > BUSY) entry_shrink(entry);
    command(entry, WIRE_RING_COMMIT_AND_FETCH, NULL);
    entry->queue->ring->is_awaited |= entry->is_awaited;
    entry->unique = 0;
}

void ring_give_back(struct ring_entry *entry) {
    struct ring *ring = entry->queue->ring;
    if (ring == own) {
        commit(entry);
        return;
    }
    entry->next = atomic_load(&ring->answered);
    while (!atomic_compare_exchange_weak(&ring->answered, &entry->next, entry)) {}
    uint64_t one = 1;
    // The thread processes everything available, so that one signal is enough.
    if (!entry->next && write(ring->wake, &one, sizeof one) < 0) return;
}

static void commit_answered(struct ring *ring) {
    struct ring_entry *entry = atomic_exchange(&ring->answered, NULL);
    while (entry) {
        struct ring_entry *next = entry->next;
        commit(entry);
        entry = next;
    }
}

static void await_wake(struct ring *ring) {
    struct io_uring_sqe *sqe = submission(ring);
    io_uring_prep_read(sqe, ring->wake, &ring->woken, sizeof ring->woken, 0);
    io_uring_sqe_set_data(sqe, NULL);
}

/// The kernel accepted the rings although its switch was off when INIT was answered, and now the switch is off again: answers
/// wait until it is on. A request that came over a ring can't be answered in any other way.
static void retry(struct ring_entry *entry) {
    struct ring *ring = entry->queue->ring;
    if (atomic_load(&ring->stopping)) return;
    uint64_t time = clock_now();
    if (ring->stuck_since == 0) {
        ring->stuck_since = time;
        dprintf(STDERR_FILENO, "fuse: enable_uring was changed during the mount and is off: answers wait until it is on\n");
    } else if (time - ring->stuck_since > RETRY_LIMIT) {
        dprintf(STDERR_FILENO, "fuse: enable_uring is still off: the connection ends\n");
        ring->service->give_up(ring->service);
        return;
    }
    struct timespec pause = {.tv_nsec = RETRY_PAUSE};
    nanosleep(&pause, NULL);
    entry->unique = entry->committed;
    command(entry, WIRE_RING_COMMIT_AND_FETCH, NULL);
    entry->unique = 0;
    io_uring_submit(&ring->io);
}

/// `result`: below 0 when the connection ended, or the kernel didn't take the entry.
static void receive(struct ring_entry *entry, int result) {
    struct queue *queue = entry->queue;
    struct ring *ring = queue->ring;
    queue->waiting--;
    if (result == -EOPNOTSUPP && entry->committed) {
        retry(entry);
        return;
    }
    if (result < 0) {
        queue->is_refused = true;
        return;
    }
    ring->stuck_since = 0;
    while (queue->waiting < SPARE && !queue->is_refused && add_entry(queue)) {}
    bool is_handed_on = workers_is_needed(&ring->workers, entry_header(entry)) && workers_take(&ring->workers, entry);
    idle_class_count(ring->idle_class, &ring->load, is_handed_on);
    if (!is_handed_on) workers_serve(&ring->workers, entry);
}

/// Waits for one completion and handles it.
static void turn(struct ring *ring) {
    struct io_uring_cqe *cqe;
    if (ring->is_awaited || io_uring_cq_ready(&ring->io) == 0) {
        // Retried after an interruption.
        if (io_uring_submit_and_wait(&ring->io, 1) < 0) return;
        ring->is_awaited = false;
    }
    if (io_uring_peek_cqe(&ring->io, &cqe) != 0) return;
    struct ring_entry *entry = io_uring_cqe_get_data(cqe);
    int result = cqe->res;
    io_uring_cqe_seen(&ring->io, cqe);
    if (entry) {
        receive(entry, result);
    } else {
        await_wake(ring);
        commit_answered(ring);
    }
}

/// A failure here costs only time.
static void settle(int processor) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    pthread_setaffinity_np(pthread_self(), sizeof set, &set);
    idle_class_settle();
}

static void serve(struct ring *ring) {
    await_wake(ring);
    for (struct queue *queue = ring->queues; queue; queue = queue->next) {
        hand_over(queue->first);
        queue->first = NULL;
        // No request comes from a processor that does not exist, or that we may not use.
        if (queue->number != ring->processor) continue;
        while (queue->waiting < SPARE && add_entry(queue)) {}
    }
    while (!atomic_load(&ring->stopping)) turn(ring);
    commit_answered(ring);
    io_uring_submit(&ring->io);
}

static void *work(void *argument) {
    struct ring *ring = own = argument;
    cfuse_prepare_thread_for_faults();
    settle(ring->processor);
    ring->load.thread = gettid();
    while (sem_wait(&ring->start) != 0) {}
    if (!atomic_load(&ring->stopping)) serve(ring);
    return NULL;
}

void ring_start(struct ring *ring) { sem_post(&ring->start); }

void ring_stop(struct ring *ring) {
    workers_stop(&ring->workers);
    atomic_store(&ring->stopping, true);
    sem_post(&ring->start);
    uint64_t one = 1;
    while (write(ring->wake, &one, sizeof one) < 0 && errno == EINTR) {}
    pthread_join(ring->thread, NULL);
}

void ring_destroy(struct ring *ring) {
    ring_tear_down(&ring->io);
    close(ring->wake);
    sem_destroy(&ring->start);
    workers_destroy(&ring->workers);
    for (struct ring_entry *entry = ring->entries, *next; entry; entry = next) {
        next = entry->all;
        entry_free(entry);
    }
    for (struct queue *queue = ring->queues, *next; queue; queue = next) {
        next = queue->next;
        if (queue->first) entry_free(queue->first);
        free(queue);
    }
}
