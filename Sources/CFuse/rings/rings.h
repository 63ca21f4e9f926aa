// FUSE over io_uring: the kernel puts a request into a buffer of the calling processor, and the answer goes back the
// same way.
#ifndef CFUSE_RINGS_H
#define CFUSE_RINGS_H
#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

struct service;
struct rings;

/// Creates a ring for each processor that this process may use; nothing is served yet. NULL if the kernel does not
/// support them (before 6.14) or does not allow them.
struct rings *rings_new(struct service *service, unsigned max_threads);
/// Starts to serve. The kernel must know of the connection, that is, INIT is answered.
void rings_start(struct rings *rings);
/// Stops serving, after the requests in progress are done.
void rings_stop(struct rings *rings);
void rings_free(struct rings *rings);

/// Accepts an answer like writev(2). -1 if its request did not come over a ring.
ssize_t rings_answer(int fd, const struct iovec *iov, int count);

#endif
