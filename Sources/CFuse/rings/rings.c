#define _GNU_SOURCE
#include "rings.h"
#include "ring.h"
#include "ring_entry.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

struct rings {
    struct idle_class idle_class;
    struct ring_load **load;
    unsigned count;
    struct ring ring[];
};

/// The number of possible processors, by which the kernel numbers its queues. 0 if it can't be determined.
static unsigned possible_processors(void) {
    FILE *file = fopen("/sys/devices/system/cpu/possible", "re");
    if (!file) return 0;
    unsigned first, last;
    int found = fscanf(file, "%u-%u", &first, &last);
    fclose(file);
    return found == 2 ? last + 1 : found == 1 ? first + 1 : 0;
}

/// Creates a ring for each processor in `set`; the first also gets the queues of all other processors.
static bool make(
    struct rings *rings, struct service *service, const cpu_set_t *set, unsigned possible, unsigned max_threads) {
    for (unsigned number = 0; number < possible; number++) {
        if (!CPU_ISSET(number, set)) continue;
        struct ring *ring = &rings->ring[rings->count];
        if (ring_init(ring, service, &rings->idle_class, (int)number, max_threads) != 0) return false;
        rings->load[rings->count] = &ring->load;
        rings->count++;
        if (!ring_add_queue(ring, number)) return false;
    }
    for (unsigned number = 0; number < possible; number++)
        if (!CPU_ISSET(number, set) && !ring_add_queue(&rings->ring[0], number)) return false;
    return rings->count > 0;
}

struct rings *rings_new(struct service *service, unsigned max_threads) {
    unsigned possible = possible_processors();
    cpu_set_t set;
    if (!possible || possible > CPU_SETSIZE || sched_getaffinity(0, sizeof set, &set) != 0) return NULL;
    unsigned usable = (unsigned)CPU_COUNT(&set);
    struct rings *rings = calloc(1, sizeof *rings + usable * sizeof rings->ring[0]);
    if (!rings) return NULL;
    rings->load = calloc(usable, sizeof *rings->load);
    // Requests that wait for the network are parked; a thread that waits for the disk stays occupied.
    unsigned threads = max_threads / usable < 4 ? 4 : max_threads / usable;
    if (rings->load && make(rings, service, &set, possible, threads)) return rings;
    rings_stop(rings);
    rings_free(rings);
    return NULL;
}

void rings_start(struct rings *rings) {
    idle_class_start(&rings->idle_class, rings->load, rings->count);
    for (unsigned index = 0; index < rings->count; index++) ring_start(&rings->ring[index]);
}

void rings_stop(struct rings *rings) {
    idle_class_stop(&rings->idle_class);
    for (unsigned index = 0; index < rings->count; index++) ring_stop(&rings->ring[index]);
}

void rings_free(struct rings *rings) {
    for (unsigned index = 0; index < rings->count; index++) ring_destroy(&rings->ring[index]);
    free(rings->load);
    free(rings);
}

ssize_t rings_answer(int fd, const struct iovec *iov, int count) { return entry_answer(fd, iov, count); }
