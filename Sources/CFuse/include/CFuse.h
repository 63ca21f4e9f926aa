// libfuse's low-level API for Swift, and the parts that must be C: hooks on the wire, the worker threads, fork.
#ifndef CFUSE_H
#define CFUSE_H
#define FUSE_USE_VERSION 312
#if __has_feature(modules)
// For Swift: the C library's types, such as `stat`, are those of its module. Otherwise the headers below would declare them here
// once more, and in some builds the compiler would take this module for the one that defines them.
#pragma clang module import SwiftGlibc
#endif
#include <CMount.h>
#include <fuse3/fuse_lowlevel.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Session

/// Makes a session; argv[1...] are `-o` and its value. Nil with a text in cfuse_log_text.
struct fuse_session *cfuse_session_new(int argc, char **argv, const struct fuse_lowlevel_ops *ops, void *user);
/// How to mount: for fsopen(2), and where that isn't allowed for mount(2) as root, otherwise for fusermount3.
struct cfuse_mount {
    const char *type, *source;
    /// mount(2)'s.
    unsigned long flags;
    /// Additional options for the kernel, between commas.
    const char *data;
    /// fusermount3's list, and the first option that only root may use, or "".
    const char *options, *for_root;
};
/// libfuse's last message on this thread. Valid until the next one.
const char *cfuse_log_text(void);
void cfuse_log_clear(void);
/// Records a message of ours like one of libfuse.
void cfuse_log_keep(const char *format, ...) __attribute__((format(printf, 1, 2)));

// The place of a mount. Paths are used once: others may exchange the folders above.

/// Opens (O_PATH) what is at a path. -errno: -ELOOP for a symlink on the way.
int cfuse_place_open(const char *path);
/// The same; mounts there whose daemon is dead are unmounted first.
int cfuse_place_open_living(const char *path);

/// Whether it is in this process's tree, even if another mount covers it.
bool cfuse_is_mounted(const struct cmount_identity *identity);
/// Unmounts exactly this mount, even if it was moved: umount2(2) as root, fusermount3 otherwise. 0, EINVAL if it is gone,
/// EBUSY also if another mount covers it.
int cfuse_unmount_identified(const struct cmount_identity *identity, bool lazy);

/// Mounts on a held place. The descriptor of the device, or negative with a text in cfuse_log_text.
/// - path: The place's, for fusermount3.
int cfuse_mount(int place, const char *path, const struct cfuse_mount *how, struct cmount_identity *identity);
/// Mounts and installs the hooks. 0, or -1 with a text in cfuse_log_text.
int cfuse_session_mount(
    struct fuse_session *session, int place, const char *path, const struct cfuse_mount *how,
    struct cmount_identity *identity);

// Ending by a fault

/// Makes any fault terminate this process immediately, with a line on standard error and 128 plus the signal's number
/// as its status. A core dump would wait for all threads, and one of them may wait for this process's own mount.
void cfuse_end_at_faults(void);
/// Also writes that line to a descriptor, which stays open.
void cfuse_report_faults_to(int descriptor);
/// Does the same if this thread overflows its stack.
void cfuse_prepare_thread_for_faults(void);

// The request that this thread is serving

uint64_t cfuse_current_unique(void);
/// It was a STATX (told to libfuse as GETATTR) or a TMPFILE (told as CREATE).
bool cfuse_current_is_statx(void);
bool cfuse_current_is_tmpfile(void);
/// suid and sgid have to be cleared along with a WRITE, OPEN or CREATE.
bool cfuse_current_kills_privileges(void);
/// sgid has to be cleared along with a SETXATTR.
bool cfuse_current_kills_sgid(void);

// INIT

/// The flags that the kernel offers, on the thread that serves INIT.
uint64_t cfuse_init_offered(void);
/// Flags to answer beyond those libfuse knows. Only within `init`.
void cfuse_init_want(uint64_t flags, uint32_t stack_depth);

// Replies with fields that libfuse 3.14 doesn't know. 0 or -errno; -ENOENT if the caller is gone.

int cfuse_reply_open(fuse_req_t request, uint64_t handle, uint32_t flags, int32_t backing);
int cfuse_reply_create(
    fuse_req_t request, const struct fuse_entry_param *entry, uint64_t handle, uint32_t flags, int32_t backing);
int cfuse_reply_statx(
    fuse_req_t request, const struct stat *status, const struct timespec *birth, double timeout);
int cfuse_reply_file(fuse_req_t request, int fd, int64_t offset, size_t count);

/// Makes the kernel look an entry up again at its next use. libfuse 3.16 removed the call's flags. 0 or -errno.
static inline int cfuse_notify_expiry(
    struct fuse_session *session, fuse_ino_t parent, const char *name, size_t length) {
#if FUSE_MAJOR_VERSION == 3 && FUSE_MINOR_VERSION < 16
    return fuse_lowlevel_notify_expire_entry(session, parent, name, length, FUSE_LL_EXPIRE_ONLY);
#else
    return fuse_lowlevel_notify_expire_entry(session, parent, name, length);
#endif
}

// Passthrough. The id, or -errno.

/// Whether this thread has CAP_SYS_ADMIN, which a registration needs. The kernel may still refuse one (EPERM) if the
/// capability belongs to a user namespace.
bool cfuse_may_register(void);
int cfuse_backing_open(struct fuse_session *session, int fd);
int cfuse_backing_close(struct fuse_session *session, int32_t id);

// Passthrough for users who may not register files: replica-passthrough does it. One call at a time.

struct cfuse_registrar {
    int channel;
    pid_t child;
};
/// Starts it for a session. 0 or -errno.
int cfuse_registrar_start(struct cfuse_registrar *registrar, const char *program, struct fuse_session *session);
/// The ID, or -errno: -ENOTCONN if the program is gone or takes seconds. It must be ended then.
int cfuse_registrar_open(const struct cfuse_registrar *registrar, int fd);
/// False if the program is gone or takes seconds. It must be ended then.
bool cfuse_registrar_close(const struct cfuse_registrar *registrar, int32_t id);
void cfuse_registrar_end(const struct cfuse_registrar *registrar);

// Worker threads

struct cfuse_pool;
/// `answers_at_once`: requests on names and nodes never wait for anything slower than a local disk.
struct cfuse_pool *cfuse_pool_new(struct fuse_session *session, unsigned max_threads, bool answers_at_once);
/// Creates the rings through which the kernel may deliver requests instead of by reads, one for each processor. Within
/// `init`, before they are announced. False if they can't be created.
bool cfuse_pool_make_rings(struct cfuse_pool *pool);
/// Starts the first worker. 0 or an errno.
int cfuse_pool_start(struct cfuse_pool *pool);
/// Waits until the connection ended or cfuse_pool_end was called.
void cfuse_pool_wait(struct cfuse_pool *pool);
/// Makes all further requests fail with ENOTCONN, and cfuse_pool_wait return.
void cfuse_pool_end(struct cfuse_pool *pool);
/// Stops the workers after their current requests, and waits for their end.
void cfuse_pool_stop(struct cfuse_pool *pool);
void cfuse_pool_free(struct cfuse_pool *pool);

#endif
