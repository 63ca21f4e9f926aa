#define _GNU_SOURCE
#include "CFuse.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

/// Nothing is at a path of the mount table: a folder above was exchanged.
static int unless_moved(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP ? ESTALE : error; }

/// Opens the root of a mount. -EINVAL if its number is another's by now, -ESTALE if another one is at this path.
static int open_mount(const char *path, const struct cmount_identity *wanted) {
    int place = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (place < 0) return -unless_moved(errno);
    struct cmount_identity found;
    int error = cmount_identify(place, &found);
    if (error == 0 && cmount_is_same(&found, wanted)) return place;
    close(place);
    return error ? -error : found.number == wanted->number ? -EINVAL : -ESTALE;
}

/// Unmounts it unless it is in use. An open descriptor of the mount itself would count as a use, so a descriptor of the parent folder
/// is held instead: only processes of other mount namespaces can rename a mountpoint there.
static int unmount_unused(const char *path, const struct cmount_identity *wanted) {
    const char *name = strrchr(path, '/') + 1;
    char *folder = strndup(path, (size_t)(name - path));
    if (!folder) return ENOMEM;
    int above = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int error = above < 0 ? unless_moved(errno) : 0;
    free(folder);
    if (error) return error;
    char route[40 + NAME_MAX];
    snprintf(route, sizeof route, CMOUNT_PATH_OF_DESCRIPTOR "/%s", above, name);
    int place = open_mount(route, wanted);
    if (place >= 0) close(place);
    error = place < 0 ? -place : cmount_unmount(route, UMOUNT_NOFOLLOW, path);
    close(above);
    return error;
}

static int unmount_at(const char *path, const struct cmount_identity *wanted, bool lazy) {
    if (!lazy) return unmount_unused(path, wanted);
    int place = open_mount(path, wanted);
    if (place < 0) return -place;
    int error = cmount_detach(place, path);
    close(place);
    return error;
}

int cfuse_unmount_identified(const struct cmount_identity *identity, bool lazy) {
    int error = ESTALE;
    // Another mount covers it, or a folder above is being exchanged.
    for (int round = 0; round < 100 && error == ESTALE; round++) {
        char *path = cmount_path(identity);
        error = path ? unmount_at(path, identity, lazy) : EINVAL;
        free(path);
    }
    return error == ESTALE ? EBUSY : error;
}

bool cfuse_is_mounted(const struct cmount_identity *identity) {
    char *path = cmount_path(identity);
    if (!path) return false;
    int place = open_mount(path, identity);
    free(path);
    if (place >= 0) close(place);
    return place != -EINVAL;
}
