// Whether the disk syncs so quickly that handing a sync, or the lead, to another thread would take as long.
#ifndef CFUSE_SYNC_LATENCY_H
#define CFUSE_SYNC_LATENCY_H
#include "clock.h"
#include "wire.h"
#include <stdatomic.h>
#include <stdbool.h>

/// The last syncs of a ring or a pool. Any thread.
struct sync_latency {
    atomic_uint quick;
};

enum {
    /// The number of syncs in a row that must have been quick.
    SYNC_COUNT = 8,
    /// A sync below this is quick, in nanoseconds; one far above it delays others if it runs on the ring's own thread.
    SYNC_QUICK = 300 * 1000, SYNC_SLOW = 1000 * 1000,
};

static inline bool sync_latency_is_sync(const struct wire_in_header *request) {
    return request->opcode == WIRE_FSYNC || request->opcode == WIRE_FSYNCDIR;
}

static inline bool sync_latency_is_quick(struct sync_latency *sync_latency) {
    return atomic_load_explicit(&sync_latency->quick, memory_order_relaxed) >= SYNC_COUNT;
}

/// Whether a request is a sync that is served by the thread that received it.
static inline bool sync_latency_allows(struct sync_latency *sync_latency, const struct wire_in_header *request) {
    return sync_latency_is_sync(request) && sync_latency_is_quick(sync_latency);
}

/// The start time of a sync; 0 for all other requests.
static inline uint64_t sync_latency_begin(const struct wire_in_header *request) {
    return sync_latency_is_sync(request) ? clock_now() : 0;
}

/// Records that the sync that began at `begin` is done.
static inline void sync_latency_note(struct sync_latency *sync_latency, uint64_t begin) {
    if (begin == 0) return;
    uint64_t took = clock_now() - begin;
    if (took > SYNC_SLOW) atomic_store_explicit(&sync_latency->quick, 0, memory_order_relaxed);
    else if (took < SYNC_QUICK && !sync_latency_is_quick(sync_latency)) atomic_fetch_add_explicit(&sync_latency->quick, 1, memory_order_relaxed);
}

#endif
