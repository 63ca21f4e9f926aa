#define _GNU_SOURCE
#include "CFuse.h"
#include <fuse3/fuse_log.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

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
