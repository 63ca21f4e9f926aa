#define _GNU_SOURCE
#include "identity.h"
#include "unmounting.h"
#include <CWalk.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
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

/// Whether its mount was removed meanwhile: while it is held, no other gets its number.
static bool is_unmounted(int place) {
    struct cfuse_mount_identity mount;
    if (cfuse_mount_identify(place, &mount) != 0) return false;
    char *path = cfuse_mount_path(&mount);
    free(path);
    return !path;
}

int cfuse_place_open_living(const char *path) {
    // Dead mounts may be stacked.
    for (int round = 0; round < 32; round++) {
        int place = cfuse_place_open(path);
        if (place < 0 || !is_dead(place)) return place;
        int error = cfuse_place_detach(place, path);
        if (error && is_unmounted(place)) error = 0;
        close(place);
        if (error) return -error;
    }
    return -ENOTCONN;
}
