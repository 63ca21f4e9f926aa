#ifndef CFUSE_RING_CLOCK_H
#define CFUSE_RING_CLOCK_H
#include <stdint.h>
#include <time.h>

/// Nanoseconds from some moment on.
static inline uint64_t ring_clock(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

#endif
