// Serves requests, regardless of how they arrive.
#ifndef CFUSE_SERVICE_H
#define CFUSE_SERVICE_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct fuse_session;
struct wire_in_header;

struct service {
    struct fuse_session *session;
    /// The connection's device.
    int fd;
    /// Requests on names and nodes never wait for more than a local disk.
    bool answers_at_once;
    /// The answer to INIT gave the connection rings.
    bool has_rings;
    /// SETXATTR has its longer form.
    atomic_bool has_long_setxattr;
    /// Every request is answered ENOTCONN.
    atomic_bool refusing;
    /// Ends the connection because it can't be served any more. Any thread.
    void (*give_up)(struct service *service);
};

/// Whether a request is served without waiting for anything slower than a local disk: it concerns a name or a node.
bool service_answers_at_once(const struct service *service, const struct wire_in_header *header);

#endif
