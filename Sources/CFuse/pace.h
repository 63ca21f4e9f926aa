// Whether the disk syncs so quickly that to hand a sync, or the lead, to another thread would take as long.
#ifndef CFUSE_PACE_H
#define CFUSE_PACE_H
#include "clock.h"
#include "wire.h"
#include <stdatomic.h>
#include <stdbool.h>

/// The last syncs of a ring or a pool. Any thread.
struct pace {
    atomic_uint quick;
};

enum {
    /// So many in a row must have been quick.
    PACE_COUNT = 8,
    /// Below this one is quick, in nanoseconds; far above it, on the ring's own thread, others had to wait.
    PACE_QUICK = 300 * 1000, PACE_SLOW = 1000 * 1000,
};

static inline bool pace_is_sync(const struct wire_in_header *request) {
    return request->opcode == WIRE_FSYNC || request->opcode == WIRE_FSYNCDIR;
}

static inline bool pace_is_quick(struct pace *pace) {
    return atomic_load_explicit(&pace->quick, memory_order_relaxed) >= PACE_COUNT;
}

/// Whether a request is a sync and to be served where it came.
static inline bool pace_allows(struct pace *pace, const struct wire_in_header *request) {
    return pace_is_sync(request) && pace_is_quick(pace);
}

/// When a sync begins; 0 for all else.
static inline uint64_t pace_begin(const struct wire_in_header *request) {
    return pace_is_sync(request) ? clock_now() : 0;
}

/// Notes that what began at `begin` is done.
static inline void pace_note(struct pace *pace, uint64_t begin) {
    if (begin == 0) return;
    uint64_t took = clock_now() - begin;
    if (took > PACE_SLOW) atomic_store_explicit(&pace->quick, 0, memory_order_relaxed);
    else if (took < PACE_QUICK && !pace_is_quick(pace)) atomic_fetch_add_explicit(&pace->quick, 1, memory_order_relaxed);
}

#endif
