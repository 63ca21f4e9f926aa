// An io_uring whose memory is the process's own.
#ifndef CFUSE_RING_SETUP_H
#define CFUSE_RING_SETUP_H
#include <liburing.h>

/// How many commands may wait to be submitted.
enum { RING_SUBMISSIONS = 64 };

/// 0 or an errno; ENOSYS, EINVAL or EPERM if the kernel does not support or allow it.
int ring_set_up(struct io_uring *io);
void ring_tear_down(struct io_uring *io);

#endif
