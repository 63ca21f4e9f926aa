// A buffer that either belongs to the kernel, waiting for a request, or holds an unanswered one.
#ifndef CFUSE_RING_ENTRY_H
#define CFUSE_RING_ENTRY_H
#include "wire.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

struct service;
struct queue;

struct ring_entry {
    struct queue *queue;
    struct wire_ring_header *header;
    char *payload;
    /// The request's number, while there is one.
    uint64_t unique;
    /// The number of the request that the last command answered, or 0.
    uint64_t committed;
    /// Whether its request was served, and answered.
    atomic_uint state;
    int fd;
    /// Whether a program waits for the answer.
    bool is_awaited;
    /// How much of the payload was touched since it was last released.
    size_t touched;
    /// Links in the list of entries that await an answer, and in a list of the ring or the workers.
    struct ring_entry *awaiting, *next;
    struct ring_entry *all;
};

/// The maximum payload: the largest write, and the pages negotiated by FUSE_INIT.
enum { ENTRY_PAYLOAD = 1 << 20 };

/// NULL if out of memory.
struct ring_entry *entry_new(struct queue *queue, int fd);
void entry_free(struct ring_entry *entry);
/// The size of the payload that the kernel delivered.
static inline const struct wire_in_header *entry_header(const struct ring_entry *entry) {
    return (const void *)entry->header->in_out;
}
/// Serves its request, and makes the ring return the entry when it is answered, now or later.
void entry_serve(struct ring_entry *entry, struct service *service);
/// Accepts an answer like writev(2). -1 if its request did not come over a ring.
ssize_t entry_answer(int fd, const struct iovec *iov, int count);
/// Releases the memory of a large payload. Not while it holds a request.
void entry_shrink(struct ring_entry *entry);

#endif
