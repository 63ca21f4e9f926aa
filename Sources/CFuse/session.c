#define _GNU_SOURCE
#include "CFuse.h"
#include <errno.h>
#include <fuse3/fuse_log.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static __thread char log_text[512];

/// Keeps the last message for the report of the failure; nothing is printed.
static void keep_log(enum fuse_log_level level, const char *format, va_list arguments) {
    vsnprintf(log_text, sizeof log_text, format, arguments);
    log_text[strcspn(log_text, "\n")] = 0;
}

void cfuse_log_keep(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    keep_log(FUSE_LOG_ERR, format, arguments);
    va_end(arguments);
}

const char *cfuse_log_text(void) { return log_text; }
void cfuse_log_clear(void) { log_text[0] = 0; }

static pthread_once_t log_once = PTHREAD_ONCE_INIT;
static void set_log(void) { fuse_set_log_func(keep_log); }

struct fuse_session *cfuse_session_new(int argc, char **argv, const struct fuse_lowlevel_ops *ops, void *user) {
    pthread_once(&log_once, set_log);
    cfuse_log_clear();
    struct fuse_args arguments = FUSE_ARGS_INIT(argc, argv);
    struct fuse_session *session = fuse_session_new(&arguments, ops, sizeof *ops, user);
    fuse_opt_free_args(&arguments);
    return session;
}

static int run_fusermount(const char *path, bool lazy) {
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

int cfuse_unmount(const char *path, bool lazy) {
    if (umount2(path, (lazy ? MNT_DETACH : 0) | UMOUNT_NOFOLLOW) == 0) return 0;
    if (errno != EPERM || geteuid() == 0) return errno;
    return run_fusermount(path, lazy);
}

/// stat(2) may be answered from the kernel's cache; statfs(2) fails for users who may not access the mount.
static bool is_dead(const char *path) {
    struct stat status;
    struct statfs statistics;
    // A dying daemon aborts requests: the next check shows the result.
    for (int round = 0; round < 100; round++) {
        if (stat(path, &status) == 0 && statfs(path, &statistics) == 0) return false;
        if (errno != ECONNABORTED) return errno == ENOTCONN;
    }
    return false;
}

int cfuse_clean_dead_mount(const char *path) {
    // Dead mounts may be stacked.
    for (int round = 0; round < 32; round++) {
        if (!is_dead(path)) return 0;
        int error = cfuse_unmount(path, true);
        if (error) return error;
    }
    return ENOTCONN;
}
