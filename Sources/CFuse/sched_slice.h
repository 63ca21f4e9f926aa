// The scheduling of the answering threads.
#ifndef CFUSE_SCHED_SLICE_H
#define CFUSE_SCHED_SLICE_H
#include <stdint.h>
#include <sys/types.h>

/// Requests a short time slice for a thread, so that it is scheduled soon; 0 for the calling thread.
void request_short_slice(pid_t thread);

#endif
