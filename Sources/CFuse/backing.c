#define _GNU_SOURCE
#include "CFuse.h"
#include "wire.h"
#include <errno.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// No valid group: gid_t's last value, -1, means none.
#define NO_GROUP ((gid_t)-2)

/// The groups of this thread.
struct groups {
    gid_t main, *others;
    int count;
};

static int join_groups(struct groups *before) {
    setfsgid(before->main);
    int result = before->count > 0 && syscall(SYS_setgroups, before->count, before->others) != 0 ? -errno : 0;
    free(before->others);
    return result;
}

/// Removes only this thread from all groups. 0 or -errno.
static int leave_groups(struct groups *before) {
    *before = (struct groups){.count = (int)syscall(SYS_getgroups, 0, NULL)};
    if (before->count < 0) return -errno;
    if (before->count > 0) {
        before->others = malloc((size_t)before->count * sizeof *before->others);
        if (!before->others) return -ENOMEM;
        if (syscall(SYS_getgroups, before->count, before->others) != before->count ||
            syscall(SYS_setgroups, 0, NULL) != 0) {
            free(before->others);
            return -EPERM;
        }
    }
    before->main = (gid_t)setfsgid(NO_GROUP);
    if ((gid_t)setfsgid((gid_t)-1) == NO_GROUP) return 0;
    join_groups(before);
    return -EPERM;
}

/// The kernel keeps this thread's credentials for the I/O on the backing file, and checks them, not the writer's, to
/// decide whether a write clears suid and sgid (file_remove_privs of the backing filesystem). With CAP_FSETID no write
/// would; if the thread were in the file's group, sgid without group execution would stay. So the credentials have
/// neither.
static int as_nobody_who_keeps_bits(int fd, unsigned long call, void *argument) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct before[2], lowered[2];
    struct groups groups;
    if (syscall(SYS_capget, &header, before) != 0) return -errno;
    int result = leave_groups(&groups);
    if (result != 0) return result;
    lowered[0] = before[0];
    lowered[1] = before[1];
    lowered[0].effective &= ~(1u << CAP_FSETID);
    bool change = lowered[0].effective != before[0].effective;
    if (!change || syscall(SYS_capset, &header, lowered) == 0) result = ioctl(fd, call, argument);
    else result = -1;
    if (result < 0) result = -errno;
    if (change && syscall(SYS_capset, &header, before) != 0) result = -errno;
    int joined = join_groups(&groups);
    return joined != 0 ? joined : result;
}

bool cfuse_may_register(void) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2];
    return syscall(SYS_capget, &header, sets) == 0 && sets[0].effective & 1u << CAP_SYS_ADMIN;
}

int cfuse_backing_open(struct fuse_session *session, int fd) {
    struct wire_backing_map map = {.fd = fd};
    return as_nobody_who_keeps_bits(fuse_session_fd(session), WIRE_BACKING_OPEN, &map);
}

int cfuse_backing_close(struct fuse_session *session, int32_t id) {
    uint32_t number = (uint32_t)id;
    return ioctl(fuse_session_fd(session), WIRE_BACKING_CLOSE, &number) < 0 ? -errno : 0;
}
