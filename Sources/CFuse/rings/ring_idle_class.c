#define _GNU_SOURCE
#include "ring_idle_class.h"
#include "clock.h"
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// A program that gets its answer is woken on an idle processor, if there is one, because its own is busy with the
// answering thread. It makes its next request from there, and so on: each answer costs waking a sleeping processor. The
// scheduler considers a processor idle if it only runs SCHED_IDLE threads (select_idle_sibling), so if the ring's
// thread is one, the program stays. But such a thread also yields to all others: therefore it is in this class only
// while many requests come, and this thread watches it and takes it out for a while as soon as it is kept waiting.

enum {
    /// The interval of its checks, in nanoseconds: a ring's thread is kept waiting for at most three times that.
    TICK = 2 * 1000 * 1000,
    /// The number of requests in a tick from which it pays off, unless too large a share of them is handed over: their
    /// workers would preempt the ring's thread, which costs another switch.
    MANY = 8, SHARE = 8,
    /// Ticks without a request after which it sleeps.
    QUIET_TICKS = 50,
    /// One in this many requests checks whether it sleeps.
    ASK_EVERY = 64,
};
/// How long a thread that was kept waiting stays out of the class, in nanoseconds: longer each time that it soon
/// happens again.
static const uint64_t SHORTEST_HOLD = 25000000, LONGEST_HOLD = 800000000, SOON = 100000000;

static bool set_policy(pid_t thread, int policy) {
    struct sched_param priority = {.sched_priority = 0};
    return sched_setscheduler(thread, policy, &priority) == 0;
}

void idle_class_settle(void) { set_policy(0, SCHED_BATCH); }

/// Reads the start of a file about a thread of ours. False if it can't be read.
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

/// The total time that it waited for its processor, in nanoseconds; without the current wait.
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

static void yield(struct ring_load *load, bool yields) {
    if (set_policy(load->thread, yields ? SCHED_IDLE : SCHED_BATCH)) load->yields = yields;
}

/// Whether other threads keep the thread from its processor; `served` requests were served since the last check.
static bool is_kept_waiting(struct ring_load *load, unsigned served) {
    uint64_t before = load->delay;
    if (!read_delay(load->thread, &load->delay)) return true;
    if (served > 0) {
        load->waits = false;
        return load->delay - before > TICK / 2;
    }
    // It may just have been woken: it counts as kept waiting only at the second consecutive check.
    bool waited = load->waits;
    load->waits = wants_processor(load->thread);
    return waited && load->waits;
}

static void begin_to_yield(struct ring_load *load, uint64_t time) {
    // Without this value it can't be determined whether others are waiting.
    if (!read_delay(load->thread, &load->delay) || load->delay == 0) return;
    load->waits = false;
    load->since = time;
    yield(load, true);
}

static void hold(struct ring_load *load, uint64_t time) {
    bool is_soon = time - load->since < SOON;
    if (!is_soon || load->hold == 0) load->hold = SHORTEST_HOLD;
    else if (load->hold < LONGEST_HOLD) load->hold *= 2;
    load->hold_until = time + load->hold;
    yield(load, false);
}

static unsigned since_last_check(atomic_uint *counter, unsigned *seen) {
    unsigned before = *seen;
    *seen = atomic_load_explicit(counter, memory_order_acquire);
    return *seen - before;
}

/// True if requests came since the last check.
static bool check(struct ring_load *load, uint64_t time) {
    unsigned served = since_last_check(&load->served, &load->served_seen);
    unsigned handed_on = since_last_check(&load->handed_on, &load->handed_on_seen);
    if (handed_on * SHARE > served) {
        if (load->yields) yield(load, false);
    } else if (load->yields) {
        if (is_kept_waiting(load, served)) hold(load, time);
    } else if (served >= MANY && time >= load->hold_until) {
        begin_to_yield(load, time);
    }
    return served + handed_on > 0;
}

static void watch_while_busy(struct idle_class *idle_class) {
    for (int quiet = 0; quiet < QUIET_TICKS && !atomic_load(&idle_class->stopping); quiet++) {
        struct timespec tick = {.tv_nsec = TICK};
        nanosleep(&tick, NULL);
        uint64_t time = clock_now();
        for (unsigned index = 0; index < idle_class->count; index++)
            if (check(idle_class->load[index], time)) quiet = 0;
    }
    for (unsigned index = 0; index < idle_class->count; index++)
        if (idle_class->load[index]->yields) yield(idle_class->load[index], false);
}

static void *work(void *argument) {
    struct idle_class *idle_class = argument;
    // Without CAP_SYS_NICE it can't be undone, so it is not begun.
    if (!set_policy(0, SCHED_IDLE) || !set_policy(0, SCHED_OTHER)) return NULL;
    while (!atomic_load(&idle_class->stopping)) {
        atomic_store(&idle_class->asleep, true);
        while (sem_wait(&idle_class->asked) != 0) {}
        watch_while_busy(idle_class);
    }
    return NULL;
}

void idle_class_start(struct idle_class *idle_class, struct ring_load **load, unsigned count) {
    idle_class->load = load;
    idle_class->count = count;
    sem_init(&idle_class->asked, 0, 0);
    idle_class->is_started = pthread_create(&idle_class->thread, NULL, work, idle_class) == 0;
}

void idle_class_stop(struct idle_class *idle_class) {
    if (!idle_class->is_started) return;
    atomic_store(&idle_class->stopping, true);
    sem_post(&idle_class->asked);
    pthread_join(idle_class->thread, NULL);
    sem_destroy(&idle_class->asked);
}

void idle_class_count(struct idle_class *idle_class, struct ring_load *load, bool is_handed_on) {
    atomic_uint *counter = is_handed_on ? &load->handed_on : &load->served;
    unsigned before = atomic_fetch_add_explicit(counter, 1, memory_order_release);
    if (before % ASK_EVERY == 0 && atomic_exchange(&idle_class->asleep, false)) sem_post(&idle_class->asked);
}
