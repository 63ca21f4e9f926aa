// FUSE over io_uring: the kernel puts a request into a buffer of the processor that asks, and the answer goes back the same way.
#ifndef CFUSE_RINGS_H
#define CFUSE_RINGS_H
#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

struct service;
struct rings;

/// Makes a ring for each processor that this process may use; nothing is served yet. NULL when the kernel has none for
/// it (before 6.14), or doesn't allow them.
struct rings *rings_new(struct service *service, unsigned max_threads);
/// Starts to serve. The kernel must know of the connection, that is, INIT is answered.
void rings_start(struct rings *rings);
/// Stops to serve, once what is being served is done.
void rings_stop(struct rings *rings);
void rings_free(struct rings *rings);

/// Takes an answer as writev(2) does. -1 when what it answers did not come over a ring.
ssize_t rings_answer(int fd, const struct iovec *iov, int count);

#endif
