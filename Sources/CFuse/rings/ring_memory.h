// An io_uring whose memory is the process's own.
#ifndef CFUSE_RING_MEMORY_H
#define CFUSE_RING_MEMORY_H
#include <liburing.h>

/// How many commands may wait to be submitted.
enum { RING_SUBMISSIONS = 64 };

/// 0 or an errno; ENOSYS, EINVAL or EPERM if the kernel does not support or allow it.
int ring_memory_make(struct io_uring *io);
void ring_memory_free(struct io_uring *io);

#endif
