// The monotonic clock.
#ifndef CFUSE_CLOCK_H
#define CFUSE_CLOCK_H
#include <stdint.h>
#include <time.h>

/// Nanoseconds since an arbitrary moment.
static inline uint64_t clock_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static inline struct timespec clock_in_seconds(time_t seconds) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += seconds;
    return time;
}

#endif
