#define _GNU_SOURCE
#include "CFuse.h"
#include "follow.h"
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A program sleeps while its request is served, so nothing is lost by serving it on its own processor. Much is won:
// waking a thread on a processor that sleeps takes longer than most answers (docs/decisions/performance.md).

/// After how many requests it is looked again where a program runs.
enum { INTERVAL = 64, LONGEST_INTERVAL = 1024 };
/// How many requests of changing programs are served between two looks.
enum { PAUSE = 4 };
/// Programs that take turns so often are served side by side, on no processor of their own.
enum { MOST_RETURNS = 4, RETURNS_INTERVAL = 256 };

/// Where this process may run; nobody is followed when that is one processor, or more than a cpu_set_t holds.
static cpu_set_t allowed;
static bool has_choice, can_give_way;

static __thread struct follower *current;

static void find_out(void) {
    has_choice = sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 1;
    can_give_way = has_choice && may_give_way();
}

void follow_prepare(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_out);
}

void follow_begin(struct follower *follower, int fd) {
    current = follower;
    follower->thread = gettid();
    follower->fd = fd;
    follower->interval = INTERVAL;
    pthread_mutex_init(&follower->lock, NULL);
    // Whoever started this thread may have been bound itself.
    if (has_choice) run_anywhere(0);
}

void follow_answers(void) {
    if (current) atomic_store_explicit(&current->is_serving, false, memory_order_relaxed);
}

void run_anywhere(pid_t thread) { sched_setaffinity(thread, sizeof allowed, &allowed); }

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

static void bind_to(struct follower *follower, int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) return;
    follower->is_bound = true;
    follower->processor = processor;
}

/// The program runs elsewhere than where it was followed to: when it was woken another processor was idle, and its own
/// was not, because of us. A processor where there are only threads that give way counts as idle.
static void lose(struct follower *follower) {
    if (can_give_way && follower->returns < MOST_RETURNS && give_way(follower)) return;
    // Where the scheduler moves it all the same there is no use in running after it.
    if (follower->interval < LONGEST_INTERVAL) follower->interval *= 2;
}

static void look(struct follower *follower) {
    bool is_known = follower->looked_at == follower->program;
    follower->looked_at = follower->program;
    follower->since = 0;
    int processor = processor_of(follower->program);
    if (processor < 0 || processor >= CPU_SETSIZE || !CPU_ISSET(processor, &allowed)) return;
    if (follower->is_bound && processor == follower->processor) {
        follower->interval = INTERVAL;
        return;
    }
    if (follower->is_bound && is_known) lose(follower);
    bind_to(follower, processor);
}

/// Counts how often programs take turns: giving way to one would make the other wait.
static void count_turns(struct follower *follower, uint32_t program, unsigned served) {
    if (served % RETURNS_INTERVAL == 0) follower->returns = 0;
    if (program == follower->program) return;
    if (program == follower->former && ++follower->returns >= MOST_RETURNS) give_way_no_more(follower, true);
    follower->former = follower->program;
}

void follow(struct follower *follower, uint32_t program) {
    if (!has_choice || program == 0) return;
    atomic_store_explicit(&follower->is_serving, true, memory_order_relaxed);
    unsigned served = atomic_fetch_add_explicit(&follower->served, 1, memory_order_relaxed) + 1;
    count_turns(follower, program, served);
    follower->program = program;
    follower->since++;
    unsigned interval = !follower->looked_at ? 0 : program == follower->looked_at ? follower->interval : PAUSE;
    if (follower->since >= interval) look(follower);
}

void follow_leave(struct follower *follower) {
    give_way_no_more(follower, false);
    if (!follower->is_bound) return;
    follower->is_bound = false;
    follower->looked_at = 0;
    run_anywhere(0);
}

void cfuse_run_anywhere(void) {
    if (current) follow_leave(current);
}

void follow_end(struct follower *follower) {
    current = NULL;
    pthread_mutex_lock(&follower->lock);
    follower->is_ending = true;
    bool has_watch = follower->has_watch;
    pthread_mutex_unlock(&follower->lock);
    if (has_watch) pthread_join(follower->watch, NULL);
    pthread_mutex_destroy(&follower->lock);
}
