// How the threads that answer are scheduled.
#ifndef CFUSE_SLICES_H
#define CFUSE_SLICES_H
#include <stdint.h>
#include <sys/types.h>

/// Has a thread let in soon and for a short time; 0 for the calling thread.
void ask_for_short_slices(pid_t thread);

#endif
