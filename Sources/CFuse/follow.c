#define _GNU_SOURCE
#include "wire.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A program sleeps while its request is served, so nothing is lost by serving it on the program's own processor, and
// much is won: waking a thread on another one takes longer than most answers (docs/decisions/performance.md).

/// After how many requests it is looked again where a program runs.
enum { INTERVAL = 32, LONGEST_INTERVAL = 4096 };
/// How many requests of changing programs are served between two looks.
enum { PAUSE = 4 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
/// Where this process may run; nothing is followed when that is one processor, or more than a cpu_set_t holds.
static cpu_set_t allowed;
static bool has_choice;

static __thread struct {
    bool is_bound;
    int processor;
    uint32_t program;
    unsigned since, interval;
    /// The program left where it was followed to.
    bool has_moved;
} here;

static void find_allowed(void) {
    has_choice = sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 1;
}

void cfuse_follow_prepare(void) { pthread_once(&once, find_allowed); }

/// The processor on which a thread ran last; negative when it is gone. Field 39 of proc(5)'s stat.
static int processor_of(uint32_t thread) {
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%u/stat", thread);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    if (got <= 0) return -1;
    text[got] = 0;
    // The second field is a name in parentheses, in which there may be anything.
    char *field = strrchr(text, ')');
    for (int number = 2; field && number < 39; number++) field = strchr(field + 1, ' ');
    return field ? atoi(field + 1) : -1;
}

static void bind_to(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) return;
    here.is_bound = true;
    here.processor = processor;
}

static void look_after(uint32_t program) {
    bool is_known = program == here.program;
    here.program = program;
    here.since = 0;
    int processor = processor_of(program);
    if (processor < 0 || processor >= CPU_SETSIZE || !CPU_ISSET(processor, &allowed)) return;
    if (here.is_bound && processor == here.processor) {
        here.interval = INTERVAL;
        here.has_moved = false;
        return;
    }
    // Where the scheduler keeps moving programs away from us there is no use in running after them.
    if (is_known && here.has_moved && here.interval < LONGEST_INTERVAL) here.interval *= 2;
    here.has_moved = true;
    bind_to(processor);
}

void cfuse_follow(uint32_t program) {
    if (!has_choice || program == 0) return;
    here.since++;
    if (here.interval == 0) here.interval = INTERVAL;
    if (program == here.program ? here.since < here.interval : here.since < PAUSE && here.program) return;
    look_after(program);
}

void cfuse_follow_end(void) {
    if (!here.is_bound) return;
    here.is_bound = false;
    here.program = 0;
    sched_setaffinity(0, sizeof allowed, &allowed);
}
