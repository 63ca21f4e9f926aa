#define _GNU_SOURCE
#include "ring_watch.h"
#include "clock.h"
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// A program that is answered is woken on an idle processor, if there is one, for its own is busy: with the thread that
// answers. From there it asks the next time, and so on: each answer pays for waking a processor that sleeps. The scheduler
// takes a processor for idle that runs only SCHED_IDLE threads (select_idle_sibling), so with such a thread the program
// stays. But that also waits for all others when there is work: so it is such only while many requests come, and under
// the eyes of this thread, which ends it for a while as soon as the ring's thread is kept waiting.

enum {
    /// How often it looks, in nanoseconds: a ring's thread is kept waiting for three times that at the most.
    TICK = 2 * 1000 * 1000,
    /// Requests in a tick from which on it is worth it, unless as much as a share of them is handed on: whoever serves
    /// that would stop the ring's thread, and it takes another switch to go on.
    MANY = 8, SHARE = 8,
    /// Ticks without a request after which it sleeps.
    PATIENCE = 50,
    /// One in so many requests looks whether it sleeps.
    ASK_EVERY = 64,
};
/// How long a thread that was kept waiting is left alone, in nanoseconds: longer each time that it happens soon again.
static const uint64_t SHORTEST_HOLD = 25000000, LONGEST_HOLD = 800000000, SOON = 100000000;

static bool set_policy(pid_t thread, int policy) {
    struct sched_param priority = {.sched_priority = 0};
    return sched_setscheduler(thread, policy, &priority) == 0;
}

void watch_settle(void) { set_policy(0, SCHED_BATCH); }

/// The start of a file on a thread of ours. False when it can't be read.
static bool read_about(pid_t thread, const char *name, char text[256]) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", thread, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    ssize_t got = read(file, text, 255);
    close(file);
    text[got > 0 ? got : 0] = 0;
    return got > 0;
}

/// For how long it waited for its processor in all, in nanoseconds; what it waits just now is not in it.
static bool read_delay(pid_t thread, uint64_t *delay) {
    char text[256];
    return read_about(thread, "schedstat", text) && sscanf(text, "%*u %" SCNu64, delay) == 1;
}

static bool wants_processor(pid_t thread) {
    char text[256];
    if (!read_about(thread, "stat", text)) return true;
    const char *name_end = strrchr(text, ')');
    return !name_end || strncmp(name_end, ") R", 3) == 0;
}

static void yield(struct watched *watched, bool yields) {
    if (set_policy(watched->thread, yields ? SCHED_IDLE : SCHED_BATCH)) watched->yields = yields;
}

/// Whether others keep the thread from its processor; `served` requests were served since the last look.
static bool is_kept_waiting(struct watched *watched, unsigned served) {
    uint64_t before = watched->delay;
    if (!read_delay(watched->thread, &watched->delay)) return true;
    if (served > 0) {
        watched->waits = false;
        return watched->delay - before > TICK / 2;
    }
    // It may just have been woken: only the second time in a row it is kept waiting.
    bool waited = watched->waits;
    watched->waits = wants_processor(watched->thread);
    return waited && watched->waits;
}

static void begin_to_yield(struct watched *watched, uint64_t time) {
    // Without a figure for it, it could not be told whether others are in the way.
    if (!read_delay(watched->thread, &watched->delay) || watched->delay == 0) return;
    watched->waits = false;
    watched->since = time;
    yield(watched, true);
}

static void hold(struct watched *watched, uint64_t time) {
    bool is_soon = time - watched->since < SOON;
    if (!is_soon || watched->hold == 0) watched->hold = SHORTEST_HOLD;
    else if (watched->hold < LONGEST_HOLD) watched->hold *= 2;
    watched->hold_until = time + watched->hold;
    yield(watched, false);
}

static unsigned since_last_look(atomic_uint *counter, unsigned *seen) {
    unsigned before = *seen;
    *seen = atomic_load_explicit(counter, memory_order_acquire);
    return *seen - before;
}

/// True when requests came since the last look.
static bool look(struct watched *watched, uint64_t time) {
    unsigned served = since_last_look(&watched->served, &watched->served_seen);
    unsigned handed_on = since_last_look(&watched->handed_on, &watched->handed_on_seen);
    if (handed_on * SHARE > served) {
        if (watched->yields) yield(watched, false);
    } else if (watched->yields) {
        if (is_kept_waiting(watched, served)) hold(watched, time);
    } else if (served >= MANY && time >= watched->hold_until) {
        begin_to_yield(watched, time);
    }
    return served + handed_on > 0;
}

static void watch_while_busy(struct watch *watch) {
    for (int quiet = 0; quiet < PATIENCE && !atomic_load(&watch->stopping); quiet++) {
        struct timespec tick = {.tv_nsec = TICK};
        nanosleep(&tick, NULL);
        uint64_t time = clock_now();
        for (unsigned index = 0; index < watch->count; index++)
            if (look(watch->watched[index], time)) quiet = 0;
    }
    for (unsigned index = 0; index < watch->count; index++)
        if (watch->watched[index]->yields) yield(watch->watched[index], false);
}

static void *work(void *argument) {
    struct watch *watch = argument;
    // Whoever may not take it back must not begin with it: without CAP_SYS_NICE, that is.
    if (!set_policy(0, SCHED_IDLE) || !set_policy(0, SCHED_OTHER)) return NULL;
    while (!atomic_load(&watch->stopping)) {
        atomic_store(&watch->asleep, true);
        while (sem_wait(&watch->asked) != 0) {}
        watch_while_busy(watch);
    }
    return NULL;
}

void watch_start(struct watch *watch, struct watched **watched, unsigned count) {
    watch->watched = watched;
    watch->count = count;
    sem_init(&watch->asked, 0, 0);
    watch->is_started = pthread_create(&watch->thread, NULL, work, watch) == 0;
}

void watch_stop(struct watch *watch) {
    if (!watch->is_started) return;
    atomic_store(&watch->stopping, true);
    sem_post(&watch->asked);
    pthread_join(watch->thread, NULL);
    sem_destroy(&watch->asked);
}

void watch_count(struct watch *watch, struct watched *watched, bool is_handed_on) {
    atomic_uint *counter = is_handed_on ? &watched->handed_on : &watched->served;
    unsigned before = atomic_fetch_add_explicit(counter, 1, memory_order_release);
    if (before % ASK_EVERY == 0 && atomic_exchange(&watch->asleep, false)) sem_post(&watch->asked);
}
