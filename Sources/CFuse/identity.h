#ifndef CFUSE_IDENTITY_H
#define CFUSE_IDENTITY_H
#include "CFuse.h"

/// The kernel's path of what a descriptor is of: for calls that take no descriptor.
#define CFUSE_PATH_OF_DESCRIPTOR "/proc/self/fd/%d"

/// The mount that a file is on. 0 or an errno.
int cfuse_mount_identify(int file, struct cfuse_mount_identity *out);
bool cfuse_mount_is_same(const struct cfuse_mount_identity *one, const struct cfuse_mount_identity *other);
/// The path of the mount with these numbers, to be freed; NULL if it is not mounted.
char *cfuse_mount_path(const struct cfuse_mount_identity *wanted);
/// Whether it is mounted on a directory of the mount with the number `below`, and has this type.
bool cfuse_mount_is_on(const struct cfuse_mount_identity *mount, uint64_t below, const char *type);
/// Whether it has this type and this source.
bool cfuse_mount_is_from(const struct cfuse_mount_identity *mount, const char *type, const char *source);

#endif
