#define _GNU_SOURCE
#include "CWalk.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Without a request to a filesystem: a dead mount is opened too.
static bool is_link(int folder, const char *name) {
    char byte;
    return readlinkat(folder, name, &byte, 1) >= 0;
}

/// One step of a walk. -errno.
static int step(int folder, const char *name, int flags) {
    int found = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC | flags);
    int error = found < 0 ? errno : 0;
    bool refuses = error ? error == ENOTDIR && is_link(folder, name) : is_link(found, "");
    if (refuses) error = ELOOP;
    if (!error) return found;
    if (found >= 0) close(found);
    return -error;
}

static int walk(char *rest, int flags) {
    if (!*rest) return -ENOENT;
    int place = open(*rest == '/' ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (place < 0) return -errno;
    for (char *name; place >= 0 && (name = strsep(&rest, "/"));) {
        if (!*name) continue;
        int next = step(place, name, rest ? O_DIRECTORY : flags);
        close(place);
        place = next;
    }
    return place;
}

int cwalk_open(const char *path, int flags) {
    struct open_how how = {
        .flags = (unsigned)(O_PATH | O_CLOEXEC | flags), .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    long place;
    do place = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    while (place < 0 && errno == EINTR);
    if (place >= 0) return (int)place;
    // Before Linux 5.6, and in containers whose manager can't judge its argument.
    if (errno != ENOSYS && errno != EPERM) return -errno;
    char *copy = strdup(path);
    if (!copy) return -ENOMEM;
    int walked = walk(copy, flags);
    free(copy);
    return walked;
}
