// libfuse's low-level API for Swift, and what has to be C: hooks on the wire, the worker threads, fork.
#ifndef CFUSE_H
#define CFUSE_H
#define FUSE_USE_VERSION 312
#if __has_feature(modules)
// For Swift: the C library's types, such as `stat`, are those of its module. Otherwise the headers below would declare them here
// once more, and in some builds the compiler would take this module for the one that defines them.
#pragma clang module import SwiftGlibc
#endif
#include <fuse3/fuse_lowlevel.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Session

/// Makes a session; argv[1...] are `-o` and its value. Nil with a text in cfuse_log_text.
struct fuse_session *cfuse_session_new(int argc, char **argv, const struct fuse_lowlevel_ops *ops, void *user);
/// How to mount: for mount(2), and for fusermount3 where that isn't allowed.
struct cfuse_mount {
    const char *type, *source;
    unsigned long flags;
    /// What is added to the kernel's options, with a comma before each.
    const char *data;
    /// fusermount3's list.
    const char *options;
};
/// The descriptor of a device that is mounted now; or below 0, with a text in cfuse_log_text.
int cfuse_mount(const char *path, const struct cfuse_mount *how);
/// Mounts and puts the hooks in. 0, or -1 with a text in cfuse_log_text.
int cfuse_session_mount(struct fuse_session *session, const char *path, const struct cfuse_mount *how);
/// What libfuse said last on this thread. Valid until it says more.
const char *cfuse_log_text(void);
void cfuse_log_clear(void);
/// Keeps a text of ours as if libfuse had said it.
void cfuse_log_keep(const char *format, ...) __attribute__((format(printf, 1, 2)));
/// Takes a mount away: umount2(2) as root, fusermount3 otherwise. 0 or an errno.
int cfuse_unmount(const char *path, bool lazy);
/// Takes away mounts whose daemon is dead. 0, or the errno that remains.
int cfuse_clean_dead_mount(const char *path);

// Which mount it is, when others may come and go at its path

/// `unique` is 0 before Linux 6.8.
struct cfuse_mount_identity {
    uint64_t number, unique;
    uint32_t major, minor;
};
/// What is mounted on top at the path. 0 or an errno.
int cfuse_mount_identify(const char *path, struct cfuse_mount_identity *out);
/// Whether it is in this process's tree, be it below another mount.
bool cfuse_is_mounted(const struct cfuse_mount_identity *identity);
/// Takes this mount away, wherever it was moved to. 0, EINVAL when it is gone, EBUSY also when another lies over it.
int cfuse_unmount_identified(const struct cfuse_mount_identity *identity, bool lazy);

// Ending by a fault

/// Has this process end at once by whatever fault of its own, with a line on standard error and 128 and the signal's number
/// as its status. A core dump would wait for all threads, and one of them may wait for this very process's mount.
void cfuse_end_at_faults(void);
/// Lets this thread get there also when its stack is what ran out.
void cfuse_prepare_thread_for_faults(void);

// The request that this thread is serving

uint64_t cfuse_current_unique(void);
/// It was a STATX (told to libfuse as GETATTR) or a TMPFILE (told as CREATE).
bool cfuse_current_is_statx(void);
bool cfuse_current_is_tmpfile(void);
/// suid and sgid are to be cleared along with a WRITE, OPEN or CREATE.
bool cfuse_current_kills_privileges(void);
/// sgid is to be cleared along with a SETXATTR.
bool cfuse_current_kills_sgid(void);

// INIT

/// The flags that the kernel offers, on the thread that serves INIT.
uint64_t cfuse_init_offered(void);
/// Flags to answer beyond those libfuse knows. Only within `init`.
void cfuse_init_want(uint64_t flags, uint32_t stack_depth);

// Replies with more than libfuse 3.14 knows. 0 or -errno; -ENOENT when the caller is gone.

int cfuse_reply_open(fuse_req_t request, uint64_t handle, uint32_t flags, int32_t backing);
int cfuse_reply_create(
    fuse_req_t request, const struct fuse_entry_param *entry, uint64_t handle, uint32_t flags, int32_t backing);
int cfuse_reply_statx(
    fuse_req_t request, const struct stat *status, const struct timespec *birth, double timeout);
int cfuse_reply_file(fuse_req_t request, int fd, int64_t offset, size_t count);

/// Has the kernel ask for an entry at its next use. libfuse 3.16 took the call's flags away. 0 or -errno.
static inline int cfuse_notify_expiry(
    struct fuse_session *session, fuse_ino_t parent, const char *name, size_t length) {
#if FUSE_MAJOR_VERSION == 3 && FUSE_MINOR_VERSION < 16
    return fuse_lowlevel_notify_expire_entry(session, parent, name, length, FUSE_LL_EXPIRE_ONLY);
#else
    return fuse_lowlevel_notify_expire_entry(session, parent, name, length);
#endif
}

// Passthrough. The id, or -errno.

/// Whether this thread has CAP_SYS_ADMIN, which a registration needs. The kernel may refuse one all the same (EPERM), where the
/// capability is that of a user namespace.
bool cfuse_may_register(void);
int cfuse_backing_open(struct fuse_session *session, int fd);
int cfuse_backing_close(struct fuse_session *session, int32_t id);

// Passthrough for who may not register files: the program replica-passthrough does. One call at a time.

struct cfuse_registrar {
    int channel;
    pid_t child;
};
/// Starts it for a session. 0 or -errno.
int cfuse_registrar_start(struct cfuse_registrar *registrar, const char *program, struct fuse_session *session);
/// The id, or -errno: -ENOTCONN when the program is gone, or takes seconds. Then it must be ended.
int cfuse_registrar_open(const struct cfuse_registrar *registrar, int fd);
/// False when the program is gone, or takes seconds. Then it must be ended.
bool cfuse_registrar_close(const struct cfuse_registrar *registrar, int32_t id);
void cfuse_registrar_end(const struct cfuse_registrar *registrar);

// Worker threads

struct cfuse_pool;
/// `answers_at_once`: requests on names and nodes never wait for more than a local disk.
struct cfuse_pool *cfuse_pool_new(struct fuse_session *session, unsigned max_threads, bool answers_at_once);
/// Makes the rings by which the kernel may hand over requests instead of having them read, one for each processor.
/// Within `init`, before it promises them. False when there are none to be had.
bool cfuse_pool_make_rings(struct cfuse_pool *pool);
/// Starts the first worker. 0 or an errno.
int cfuse_pool_start(struct cfuse_pool *pool);
/// Waits until the connection ended or cfuse_pool_end was called.
void cfuse_pool_wait(struct cfuse_pool *pool);
/// Has every further request refused with ENOTCONN, and cfuse_pool_wait return.
void cfuse_pool_end(struct cfuse_pool *pool);
/// Stops the workers, once they are done with what they do, and waits for that.
void cfuse_pool_stop(struct cfuse_pool *pool);
void cfuse_pool_free(struct cfuse_pool *pool);

#endif
