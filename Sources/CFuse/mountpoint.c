#define _GNU_SOURCE
#include "CFuse.h"
#include <CWalk.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

int cfuse_place_open(const char *path) { return cwalk_open(path, 0); }

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
        int error = cmount_detach(place, path);
        if (error && cmount_is_gone(place)) error = 0;
        close(place);
        if (error) return -error;
    }
    return -ENOTCONN;
}
