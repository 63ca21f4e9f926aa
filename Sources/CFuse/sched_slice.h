// How the threads that answer are scheduled.
#ifndef CFUSE_SCHED_SLICE_H
#define CFUSE_SCHED_SLICE_H
#include <stdint.h>
#include <sys/types.h>

/// Has a thread let in soon and for a short time; 0 for the calling thread.
void request_short_slice(pid_t thread);

#endif
