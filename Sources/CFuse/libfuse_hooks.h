// Processing of a request before and after libfuse.
#ifndef CFUSE_LIBFUSE_HOOKS_H
#define CFUSE_LIBFUSE_HOOKS_H
#include <stddef.h>

struct service;
struct wire_in_header;

/// Serves a request; `size` bytes from its header on. It may be answered later, by another thread.
void hooks_serve(struct service *service, struct wire_in_header *header, size_t size);

#endif
