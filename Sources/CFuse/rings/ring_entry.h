// A buffer that is either the kernel's, waiting for a request, or holds one that is not answered yet.
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
    /// The request's, while there is one.
    uint64_t unique;
    /// Whether its request was served, and answered.
    atomic_uint state;
    int fd;
    /// Whether a program waits for the answer.
    bool is_awaited;
    /// How much of the payload was touched since it was last given back.
    size_t touched;
    /// In the list of those that await an answer, and in one of the ring's or the workers'.
    struct ring_entry *awaiting, *next;
    struct ring_entry *all;
};

/// What the payload may hold: the most that is written, and what FUSE_INIT says of pages.
enum { ENTRY_PAYLOAD = 1 << 20 };

/// NULL without memory.
struct ring_entry *entry_new(struct queue *queue, int fd);
void entry_free(struct ring_entry *entry);
/// What the kernel put into an entry that it gave.
static inline const struct wire_in_header *entry_header(const struct ring_entry *entry) {
    return (const void *)entry->header->in_out;
}
/// Serves its request, and has the ring give it back when it is answered, now or later.
void entry_serve(struct ring_entry *entry, struct service *service);
/// Takes an answer as writev(2) does. -1 when what it answers did not come over a ring.
ssize_t entry_answer(int fd, const struct iovec *iov, int count);
/// Gives the memory of a payload back that was large. Not while it holds a request.
void entry_shrink(struct ring_entry *entry);

#endif
