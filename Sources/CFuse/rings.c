#define _GNU_SOURCE
#include "rings.h"
#include "ring.h"
#include "ring_memory.h"
#include "wire.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rings {
    struct watch watch;
    struct watched **watched;
    unsigned count;
    struct ring ring[];
};

/// How many processors the kernel may ever have, by which it numbers its queues. 0 when that is not to be learnt.
static unsigned possible_processors(void) {
    FILE *file = fopen("/sys/devices/system/cpu/possible", "re");
    if (!file) return 0;
    unsigned first, last;
    int found = fscanf(file, "%u-%u", &first, &last);
    fclose(file);
    return found == 2 ? last + 1 : found == 1 ? first + 1 : 0;
}

/// A ring for each processor in `set`; the first has the queues of all others too.
static bool make(
    struct rings *rings, struct service *service, const cpu_set_t *set, unsigned possible, unsigned max_threads) {
    for (unsigned number = 0; number < possible; number++) {
        if (!CPU_ISSET(number, set)) continue;
        struct ring *ring = &rings->ring[rings->count];
        if (ring_init(ring, service, &rings->watch, (int)number, max_threads) != 0) return false;
        rings->watched[rings->count] = &ring->watched;
        rings->count++;
        if (!ring_add_queue(ring, number)) return false;
    }
    for (unsigned number = 0; number < possible; number++)
        if (!CPU_ISSET(number, set) && !ring_add_queue(&rings->ring[0], number)) return false;
    return rings->count > 0;
}

bool rings_are_allowed(void) {
    int file = open("/sys/module/fuse/parameters/enable_uring", O_RDONLY | O_CLOEXEC);
    if (file < 0) return true;
    char value = 'Y';
    ssize_t got = read(file, &value, 1);
    close(file);
    return got != 1 || value == 'Y' || value == '1';
}

void rings_renounce(int device) {
    struct io_uring io;
    if (ring_memory_make(&io) != 0) return;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&io);
    io_uring_prep_rw(IORING_OP_URING_CMD, sqe, device, NULL, 0, 0);
    sqe->cmd_op = WIRE_RING_REGISTER;
    // After an entry that it can't take, here for no processor's queue, the kernel waits for no ring any more.
    struct wire_ring_command command = {.queue = UINT16_MAX};
    memcpy(sqe->cmd, &command, sizeof command);
    while (io_uring_submit_and_wait(&io, 1) == -EINTR) {}
    ring_memory_free(&io);
}

struct rings *rings_new(struct service *service, unsigned max_threads) {
    unsigned possible = possible_processors();
    cpu_set_t set;
    if (!possible || possible > CPU_SETSIZE || sched_getaffinity(0, sizeof set, &set) != 0) return NULL;
    unsigned usable = (unsigned)CPU_COUNT(&set);
    struct rings *rings = calloc(1, sizeof *rings + usable * sizeof rings->ring[0]);
    if (!rings) return NULL;
    rings->watched = calloc(usable, sizeof *rings->watched);
    // A thread that waits for the network is parked; one that waits for the disk keeps its place.
    unsigned threads = max_threads / usable < 4 ? 4 : max_threads / usable;
    if (rings->watched && make(rings, service, &set, possible, threads)) return rings;
    rings_stop(rings);
    rings_free(rings);
    return NULL;
}

void rings_start(struct rings *rings) {
    watch_start(&rings->watch, rings->watched, rings->count);
    for (unsigned index = 0; index < rings->count; index++) ring_start(&rings->ring[index]);
}

void rings_stop(struct rings *rings) {
    watch_stop(&rings->watch);
    for (unsigned index = 0; index < rings->count; index++) ring_stop(&rings->ring[index]);
}

void rings_free(struct rings *rings) {
    for (unsigned index = 0; index < rings->count; index++) ring_destroy(&rings->ring[index]);
    free(rings->watched);
    free(rings);
}
