#define _GNU_SOURCE
#include "CFuse.h"
#include "libfuse_hooks.h"
#include "rings/rings.h"
#include "rings/rings_switch.h"
#include "service.h"
#include "wire.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

// libfuse calls the hooks on the answering thread, so additions to an answer are kept in that thread.
static __thread const struct wire_in_header *cfuse_current;
static __thread bool current_is_statx, current_is_tmpfile, current_kills_sgid;
static __thread struct service *current_service;
static __thread uint64_t init_want;
static __thread uint32_t init_depth;
static __thread const struct wire_open_out *open_extra;
static __thread const struct wire_statx_out *statx_answer;

static void patch_init(struct iovec *iov) {
    struct wire_init_out *out = iov[1].iov_base;
    if (!rings_are_allowed()) init_want &= ~WIRE_INIT_OVER_IO_URING;
    out->flags |= (uint32_t)init_want | WIRE_INIT_EXT;
    out->flags2 |= (uint32_t)(init_want >> 32);
    out->max_stack_depth = init_depth;
    atomic_store(&current_service->has_long_setxattr, init_want & WIRE_INIT_SETXATTR_EXT);
}

/// The kernel reads its switch again when it processes the answer, and does not report what it found. If the switch was off at that moment
/// and the rings were used nevertheless, they would stop at its next change, and with them every request.
static void settle_rings(int fd) {
    current_service->has_rings = init_want & WIRE_INIT_OVER_IO_URING && rings_are_allowed();
    if (init_want & WIRE_INIT_OVER_IO_URING && !current_service->has_rings) rings_renounce(fd);
    init_want = 0;
}

static void patch_open(const struct iovec *last) {
    struct wire_open_out *out = (void *)((char *)last->iov_base + last->iov_len - sizeof *out);
    out->open_flags |= open_extra->open_flags;
    out->backing = open_extra->backing;
}

static void patch_statx(struct iovec *iov) {
    iov[1].iov_base = (void *)statx_answer;
    iov[1].iov_len = sizeof *statx_answer;
    ((struct wire_out_header *)iov[0].iov_base)->length = sizeof(struct wire_out_header) + sizeof *statx_answer;
}

static ssize_t hook_writev(int fd, struct iovec *iov, int count, void *user) {
    const struct wire_out_header *header = iov[0].iov_base;
    bool is_init = false;
    if (header->unique && !header->error && count == 2) {
        if (open_extra) patch_open(&iov[1]);
        else if (statx_answer) patch_statx(iov);
        else is_init = init_want && iov[1].iov_len == sizeof(struct wire_init_out);
    }
    if (is_init) patch_init(iov);
    ssize_t written = rings_answer(fd, iov, count);
    if (written < 0) written = writev(fd, iov, count);
    if (is_init) {
        int error = errno;
        settle_rings(fd);
        errno = error;
    }
    // libfuse prints every error but ENOENT. A notification about something that the kernel doesn't know is not an
    // error; an answer fails only if its caller is gone.
    if (written < 0 && !header->unique) return 0;
    if (written < 0 && errno != EFAULT && errno != EINVAL) errno = ENOENT;
    return written;
}

static ssize_t hook_read(int fd, void *buffer, size_t size, void *user) {
    return read(fd, buffer, size);
}

static ssize_t hook_splice(
    int from, off_t *from_offset, int to, off_t *to_offset, size_t size, unsigned flags, void *user) {
    ssize_t moved = splice(from, from_offset, to, to_offset, size, flags);
    if (moved < 0 && (errno == ENODEV || errno == ENOTCONN)) errno = ENOENT;
    return moved;
}

static const struct fuse_custom_io hooks = {
    .writev = hook_writev, .read = hook_read, .splice_receive = hook_splice, .splice_send = hook_splice};

int cfuse_session_mount(
    struct fuse_session *session, int place, const char *path, const struct cfuse_mount *how,
    struct cmount_identity *identity) {
    int device = cfuse_mount(place, path, how, identity);
    if (device < 0) return -1;
    char name[32];
    snprintf(name, sizeof name, "/dev/fd/%d", device);
    if (fuse_session_mount(session, name) != 0) {
        close(device);
        cfuse_unmount_identified(identity, true);
        return -1;
    }
    return fuse_session_custom_io(session, &hooks, fuse_session_fd(session)) == 0 ? 0 : -1;
}

/// Converts a SETXATTR to the form that libfuse 3.14 knows.
static void shorten_setxattr(struct wire_in_header *header) {
    struct wire_setxattr_in *in = (void *)(header + 1);
    current_kills_sgid = in->setxattr_flags & WIRE_SETXATTR_ACL_KILL_SGID;
    size_t rest = header->length - sizeof *header - sizeof *in;
    memmove((char *)in + WIRE_OLD_SETXATTR_IN, in + 1, rest);
    header->length -= sizeof *in - WIRE_OLD_SETXATTR_IN;
}

/// STATX begins like GETATTR and TMPFILE has the layout of CREATE: libfuse 3.14 handles them as those, and the answers
/// differ only by the hooks' additions.
static void process(struct service *service, struct wire_in_header *header, size_t size) {
    current_is_statx = header->opcode == WIRE_STATX;
    current_is_tmpfile = header->opcode == WIRE_TMPFILE;
    if (current_is_statx) header->opcode = WIRE_GETATTR;
    if (current_is_tmpfile) header->opcode = WIRE_CREATE;
    current_kills_sgid = false;
    if (header->opcode == WIRE_SETXATTR &&
        atomic_load_explicit(&service->has_long_setxattr, memory_order_relaxed)) {
        shorten_setxattr(header);
        size = header->length;
    }
    current_service = service;
    cfuse_current = header;
    struct fuse_buf request = {.size = size, .mem = header};
    fuse_session_process_buf(service->session, &request);
    cfuse_current = NULL;
}

static void refuse(int fd, const struct wire_in_header *header) {
    if (header->opcode == WIRE_FORGET || header->opcode == WIRE_BATCH_FORGET || header->opcode == WIRE_INTERRUPT)
        return;
    struct wire_out_header answer = {.length = sizeof answer, .error = -ENOTCONN, .unique = header->unique};
    struct iovec whole = {.iov_base = &answer, .iov_len = sizeof answer};
    // Fails only if the caller is gone.
    hook_writev(fd, &whole, 1, NULL);
}

void hooks_serve(struct service *service, struct wire_in_header *header, size_t size) {
    if (atomic_load_explicit(&service->refusing, memory_order_relaxed)) refuse(service->fd, header);
    else process(service, header, size);
}

uint64_t cfuse_current_unique(void) { return cfuse_current ? cfuse_current->unique : 0; }
bool cfuse_current_is_statx(void) { return current_is_statx; }
bool cfuse_current_is_tmpfile(void) { return current_is_tmpfile; }
bool cfuse_current_kills_sgid(void) { return current_kills_sgid; }

bool cfuse_current_kills_privileges(void) {
    if (!cfuse_current) return false;
    const void *body = cfuse_current + 1;
    switch (cfuse_current->opcode) {
    case WIRE_WRITE: return ((const struct wire_write_in *)body)->write_flags & WIRE_WRITE_KILL_SUIDGID;
    case WIRE_OPEN: return ((const struct wire_open_in *)body)->open_flags & WIRE_OPEN_KILL_SUIDGID;
    case WIRE_CREATE: return ((const struct wire_create_in *)body)->open_flags & WIRE_OPEN_KILL_SUIDGID;
    default: return false;
    }
}

uint64_t cfuse_init_offered(void) {
    if (!cfuse_current || cfuse_current->opcode != WIRE_INIT) return 0;
    const struct wire_init_in *in = (const void *)(cfuse_current + 1);
    return in->flags | (in->flags & WIRE_INIT_EXT ? (uint64_t)in->flags2 << 32 : 0);
}

void cfuse_init_want(uint64_t flags, uint32_t stack_depth) {
    init_want = flags;
    init_depth = stack_depth;
}

int cfuse_reply_open(fuse_req_t request, uint64_t handle, uint32_t flags, int32_t backing) {
    struct wire_open_out extra = {.open_flags = flags, .backing = backing};
    struct fuse_file_info file = {.fh = handle};
    open_extra = &extra;
    int result = fuse_reply_open(request, &file);
    open_extra = NULL;
    return result;
}

int cfuse_reply_create(
    fuse_req_t request, const struct fuse_entry_param *entry, uint64_t handle, uint32_t flags, int32_t backing) {
    struct wire_open_out extra = {.open_flags = flags, .backing = backing};
    struct fuse_file_info file = {.fh = handle};
    open_extra = &extra;
    int result = fuse_reply_create(request, entry, &file);
    open_extra = NULL;
    return result;
}

static struct wire_time wire_time(struct timespec time) {
    return (struct wire_time){.seconds = time.tv_sec, .nanoseconds = (uint32_t)time.tv_nsec};
}

int cfuse_reply_statx(
    fuse_req_t request, const struct stat *status, const struct timespec *birth, double timeout) {
    double seconds = timeout < 0 ? 0 : timeout > 1e9 ? 1e9 : timeout;
    struct wire_statx_out out = {
        .valid = (uint64_t)seconds,
        .valid_nanoseconds = (uint32_t)((seconds - (double)(uint64_t)seconds) * 1e9),
        .mask = STATX_BASIC_STATS | (birth ? STATX_BTIME : 0), .blksize = (uint32_t)status->st_blksize,
        .nlink = (uint32_t)status->st_nlink, .uid = status->st_uid, .gid = status->st_gid,
        .mode = (uint16_t)status->st_mode, .ino = status->st_ino, .size = (uint64_t)status->st_size,
        .blocks = (uint64_t)status->st_blocks, .atime = wire_time(status->st_atim),
        .ctime = wire_time(status->st_ctim), .mtime = wire_time(status->st_mtim),
        .rdev_major = major(status->st_rdev), .rdev_minor = minor(status->st_rdev)};
    if (birth) out.btime = wire_time(*birth);
    statx_answer = &out;
    int result = fuse_reply_attr(request, status, timeout);
    statx_answer = NULL;
    return result;
}

/// Below this size a read and a copy cost less than two splices.
enum { SPLICE_FROM = 128 * 1024 };

int cfuse_reply_file(fuse_req_t request, int fd, int64_t offset, size_t count) {
    if (count >= SPLICE_FROM) {
        struct fuse_bufvec source = FUSE_BUFVEC_INIT(count);
        source.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
        source.buf[0].fd = fd;
        source.buf[0].pos = offset;
        return fuse_reply_data(request, &source, 0);
    }
    char *buffer = malloc(count ? count : 1);
    if (!buffer) return fuse_reply_err(request, ENOMEM);
    ssize_t got = pread(fd, buffer, count, offset);
    int result = got < 0 ? fuse_reply_err(request, errno) : fuse_reply_buf(request, buffer, (size_t)got);
    free(buffer);
    return result;
}
