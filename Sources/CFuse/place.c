#define _GNU_SOURCE
#include "unmounting.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

int cfuse_place_open(const char *path) {
    // Without O_DIRECTORY: an automount is meant itself.
    struct open_how how = {
        .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    long place;
    do place = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    while (place < 0 && errno == EINTR);
    return place < 0 ? -errno : (int)place;
}

/// stat(2) may be answered from the kernel's cache; statfs(2) fails for users who may not access the mount.
static bool is_dead(int place) {
    struct stat status;
    struct statfs statistics;
    // A dying daemon aborts requests: the next check shows the result.
    for (int round = 0; round < 100; round++) {
        if (fstat(place, &status) == 0 && fstatfs(place, &statistics) == 0) return false;
        if (errno != ECONNABORTED) return errno == ENOTCONN;
    }
    return false;
}

int cfuse_place_open_living(const char *path) {
    // Dead mounts may be stacked.
    for (int round = 0; round < 32; round++) {
        int place = cfuse_place_open(path);
        if (place < 0 || !is_dead(place)) return place;
        int error = cfuse_place_detach(place, path);
        close(place);
        if (error) return -error;
    }
    return -ENOTCONN;
}
