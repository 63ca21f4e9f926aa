#define _GNU_SOURCE
#include "ring_entry.h"
#include "libfuse_hooks.h"
#include "ring.h"
#include "service.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// An entry has the kernel's header first, then free space, then the payload. libfuse needs a contiguous request, so its
// header and its fixed arguments, at most 128 bytes each, are copied right before the payload.

enum { PAYLOAD_AT = 4096, ENTRY_SIZE = PAYLOAD_AT + ENTRY_PAYLOAD };
/// The part of a payload's memory that is kept.
enum { KEPT = 64 * 1024 };
enum { SERVED = 1, ANSWERED = 2 };

// The entries that await an answer, of all connections: libfuse's hook only knows a request's device and number.
enum { BUCKETS = 512 };
static struct bucket {
    pthread_mutex_t lock;
    struct ring_entry *first;
} buckets[BUCKETS] = {[0 ... BUCKETS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
static atomic_uint entries;

static struct bucket *bucket_of(uint64_t unique) { return &buckets[(unique >> 1) % BUCKETS]; }

static void await_answer(struct ring_entry *entry) {
    struct bucket *bucket = bucket_of(entry->unique);
    pthread_mutex_lock(&bucket->lock);
    entry->awaiting = bucket->first;
    bucket->first = entry;
    pthread_mutex_unlock(&bucket->lock);
}

static struct ring_entry *take_awaiting(int fd, uint64_t unique) {
    struct bucket *bucket = bucket_of(unique);
    pthread_mutex_lock(&bucket->lock);
    struct ring_entry **link = &bucket->first;
    while (*link && ((*link)->unique != unique || (*link)->fd != fd)) link = &(*link)->awaiting;
    struct ring_entry *found = *link;
    if (found) *link = found->awaiting;
    pthread_mutex_unlock(&bucket->lock);
    return found;
}

struct ring_entry *entry_new(struct queue *queue, int fd) {
    struct ring_entry *entry = calloc(1, sizeof *entry);
    if (!entry) return NULL;
    int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *memory = mmap(NULL, ENTRY_SIZE, protection, flags, -1, 0);
    if (memory == MAP_FAILED) {
        free(entry);
        return NULL;
    }
    // Most requests need two pages of it. They are resident from the start: if the kernel has to fault in a page for a
    // thread that is being killed, the program gets EINTR.
    madvise(memory, ENTRY_SIZE, MADV_NOHUGEPAGE);
    memory[0] = memory[PAYLOAD_AT] = 0;
    entry->queue = queue;
    entry->fd = fd;
    entry->header = (void *)memory;
    entry->payload = memory + PAYLOAD_AT;
    atomic_fetch_add(&entries, 1);
    return entry;
}

void entry_free(struct ring_entry *entry) {
    // An entry that will never be answered: the connection ended first.
    if (entry->unique) take_awaiting(entry->fd, entry->unique);
    munmap(entry->header, ENTRY_SIZE);
    free(entry);
    atomic_fetch_sub(&entries, 1);
}

void entry_shrink(struct ring_entry *entry) {
    if (entry->touched > KEPT) madvise(entry->payload + KEPT, ENTRY_PAYLOAD - KEPT, MADV_DONTNEED);
    entry->touched = 0;
}

static void touch(struct ring_entry *entry, size_t size) {
    if (size > entry->touched) entry->touched = size;
}

/// Makes the request contiguous.
static struct wire_in_header *join(struct ring_entry *entry) {
    const struct wire_in_header *given = entry_header(entry);
    size_t operation = given->length - sizeof *given - entry->header->sizes.payload;
    char *at = entry->payload - operation;
    memcpy(at, entry->header->operation, operation);
    struct wire_in_header *request = (void *)(at - sizeof *given);
    memcpy(request, given, sizeof *given);
    return request;
}

/// The later of the two events ends the entry's use here: the answer may come while its request is still being
/// processed.
static void finish(struct ring_entry *entry, unsigned part) {
    if ((atomic_fetch_or(&entry->state, part) | part) == (SERVED | ANSWERED)) ring_give_back(entry);
}

void entry_serve(struct ring_entry *entry, struct service *service) {
    struct wire_in_header *request = join(entry);
    touch(entry, entry->header->sizes.payload);
    entry->unique = request->unique;
    entry->is_awaited = request->opcode != WIRE_RELEASE;
    atomic_store_explicit(&entry->state, 0, memory_order_relaxed);
    await_answer(entry);
    hooks_serve(service, request, request->length);
    finish(entry, SERVED);
}

ssize_t entry_answer(int fd, const struct iovec *iov, int count) {
    const struct wire_out_header *header = iov[0].iov_base;
    if (!header->unique || atomic_load_explicit(&entries, memory_order_relaxed) == 0) return -1;
    struct ring_entry *entry = take_awaiting(fd, header->unique);
    if (!entry) return -1;
    size_t size = 0;
    for (int part = 1; part < count; part++) {
        memmove(entry->payload + size, iov[part].iov_base, iov[part].iov_len);
        size += iov[part].iov_len;
    }
    touch(entry, size);
    memcpy(entry->header->in_out, header, sizeof *header);
    entry->header->sizes.payload = (uint32_t)size;
    finish(entry, ANSWERED);
    return (ssize_t)(sizeof *header + size);
}
