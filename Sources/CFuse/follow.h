// Serving a program on the processor that it runs on.
#ifndef CFUSE_FOLLOW_H
#define CFUSE_FOLLOW_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/// How a worker follows programs. Its own, but for what the watch looks at.
struct follower {
    pid_t thread;
    /// Of /dev/fuse: readable while a request waits.
    int fd;
    bool is_bound;
    int processor;
    /// The thread that asked last, the one before it, and the one whose processor was looked for last.
    uint32_t program, former, looked_at;
    unsigned since, interval, returns;
    // For the watch:
    atomic_uint served;
    atomic_bool is_serving;
    pthread_mutex_t lock;
    // Under the lock:
    bool gives_way, is_ending;
    /// A watch is at work, or was and is to be joined.
    bool is_watched, has_watch;
    pthread_t watch;
    /// Way is not given again before that, in seconds of CLOCK_MONOTONIC_COARSE.
    time_t resumes;
};

/// Finds out what this process may do. To be called by a thread that follows nobody.
void follow_prepare(void);
void follow_begin(struct follower *follower, int fd);
/// The calling worker sends an answer: whoever waited for it does not any more.
void follow_answers(void);
/// A request of `program` is about to be served.
void follow(struct follower *follower, uint32_t program);
/// Lets the calling worker run anywhere again: before it takes its time, or starts a thread, which would be bound too.
void follow_leave(struct follower *follower);
void follow_end(struct follower *follower);

/// Has the calling worker give way to all other threads of its processor until that makes somebody wait, or nothing is
/// left to do. False when it is no time for it.
bool give_way(struct follower *follower);
/// Ends that. Any thread may call it.
/// `is_late`: somebody had to wait, so it is not tried again soon.
void give_way_no_more(struct follower *follower, bool is_late);
/// Whether giving way can be ended again, which takes a right.
bool may_give_way(void);
/// How an ordinary worker is scheduled; 0 for the calling thread.
void ask_for_short_slices(pid_t thread);
void run_anywhere(pid_t thread);

#endif
