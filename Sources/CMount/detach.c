#define _GNU_SOURCE
#include "CMount.h"
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int cmount_run_fusermount(const char *path, bool lazy) {
    char *const arguments[] = {"fusermount3", lazy ? "-uqz" : "-uq", "--", (char *)path, NULL};
    pid_t child;
    int error = posix_spawnp(&child, "fusermount3", NULL, NULL, arguments, environ);
    if (error == ENOENT) error = posix_spawn(&child, "/usr/bin/fusermount3", NULL, NULL, arguments, environ);
    if (error) return error;
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR) return errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : EBUSY;
}

int cmount_unmount(const char *route, int flags, const char *path) {
    if (umount2(route, flags) == 0) return 0;
    if (errno != EPERM || geteuid() == 0) return errno;
    return cmount_run_fusermount(path, flags & MNT_DETACH);
}

int cmount_detach(int root, const char *path) {
    char route[40];
    snprintf(route, sizeof route, CMOUNT_PATH_OF_DESCRIPTOR, root);
    return cmount_unmount(route, MNT_DETACH, path);
}
