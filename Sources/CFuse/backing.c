#define _GNU_SOURCE
#include "CFuse.h"
#include "wire.h"
#include <errno.h>
#include <linux/capability.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// The kernel keeps this thread's credentials for the I/O on the backing file. With CAP_FSETID in them no write would
/// ever strip suid and sgid, whoever writes (file_remove_privs of the backing filesystem), so it is left out.
static int with_fsetid_lowered(int fd, unsigned long call, void *argument) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct before[2], lowered[2];
    if (syscall(SYS_capget, &header, before) != 0) return -errno;
    lowered[0] = before[0];
    lowered[1] = before[1];
    lowered[0].effective &= ~(1u << CAP_FSETID);
    bool change = lowered[0].effective != before[0].effective;
    if (change && syscall(SYS_capset, &header, lowered) != 0) return -errno;
    int result = ioctl(fd, call, argument);
    if (result < 0) result = -errno;
    if (change && syscall(SYS_capset, &header, before) != 0) return -errno;
    return result;
}

int cfuse_backing_open(struct fuse_session *session, int fd) {
    struct wire_backing_map map = {.fd = fd};
    return with_fsetid_lowered(fuse_session_fd(session), WIRE_BACKING_OPEN, &map);
}

int cfuse_backing_close(struct fuse_session *session, int32_t id) {
    uint32_t number = (uint32_t)id;
    return ioctl(fuse_session_fd(session), WIRE_BACKING_CLOSE, &number) < 0 ? -errno : 0;
}
