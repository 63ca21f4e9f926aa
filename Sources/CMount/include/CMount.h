// The identity of a mount whose root is held, and how it is detached: for FUSE's side and for the commands, which have no libfuse.
#ifndef CMOUNT_H
#define CMOUNT_H
#include <stdbool.h>
#include <stdint.h>

/// The kernel's path of what a descriptor is of: for calls that take no descriptor.
#define CMOUNT_PATH_OF_DESCRIPTOR "/proc/self/fd/%d"

/// Identifies a mount. `unique` is 0 before Linux 6.8, and for another user's mount.
struct cmount_identity {
    uint64_t number, unique;
    uint32_t major, minor;
};

/// The mount that a file is on. Sends no request to its daemon. 0 or an errno.
int cmount_identify(int file, struct cmount_identity *out);
bool cmount_is_same(const struct cmount_identity *one, const struct cmount_identity *other);
/// The path of the mount with these numbers, to be freed; NULL if it is not mounted.
char *cmount_path(const struct cmount_identity *wanted);
/// Whether it is mounted on a directory of the mount with the number `below`, and has this type.
bool cmount_is_on(const struct cmount_identity *mount, uint64_t below, const char *type);
/// Whether it has this type and this source.
bool cmount_is_from(const struct cmount_identity *mount, const char *type, const char *source);
/// Whether the mount whose root is held was unmounted meanwhile: while it is held, no other gets its number.
bool cmount_is_gone(int root);

/// Unmounts what is at a path by fusermount3, which checks whose it is. 0 or an errno.
int cmount_run_fusermount(const char *path, bool lazy);
/// umount2(2), or fusermount3 where that is not allowed. 0 or an errno.
/// - route: The path for umount2; `path` is for fusermount3.
int cmount_unmount(const char *route, int flags, const char *path);
/// Detaches the mount whose root is held, even if it is in use; `path` is for fusermount3. 0 or an errno.
int cmount_detach(int root, const char *path);

#endif
