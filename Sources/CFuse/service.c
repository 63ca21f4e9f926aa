#include "service.h"
#include "wire.h"

bool service_answers_at_once(const struct service *service, const struct wire_in_header *header) {
    if (atomic_load_explicit(&service->refusing, memory_order_relaxed)) return true;
    if (!service->answers_at_once) return false;
    switch (header->opcode) {
    case WIRE_LOOKUP: case WIRE_FORGET: case WIRE_GETATTR: case WIRE_SETATTR: case WIRE_READLINK:
    case WIRE_SYMLINK: case WIRE_MKNOD: case WIRE_MKDIR: case WIRE_UNLINK: case WIRE_RMDIR: case WIRE_RENAME:
    case WIRE_LINK: case WIRE_OPEN: case WIRE_STATFS: case WIRE_RELEASE: case WIRE_GETXATTR: case WIRE_LISTXATTR:
    case WIRE_OPENDIR: case WIRE_READDIR: case WIRE_RELEASEDIR: case WIRE_ACCESS: case WIRE_CREATE:
    case WIRE_INTERRUPT: case WIRE_BATCH_FORGET: case WIRE_READDIRPLUS: case WIRE_RENAME2: case WIRE_TMPFILE:
    case WIRE_STATX: return true;
    default: return false;
    }
}
