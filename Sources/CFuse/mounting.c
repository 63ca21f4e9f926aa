#define _GNU_SOURCE
#include "CFuse.h"
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// libfuse gets a device that is already mounted (/dev/fd/N): it would mount without the flags that it doesn't know, and
// at the end of a session it would unmount by path, regardless of what is mounted there.

extern char **environ;

/// The device's descriptor, or -errno.
static int mount_directly(const char *path, const struct cfuse_mount *how) {
    struct stat status;
    if (stat(path, &status) != 0) return -errno;
    int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    if (device < 0) {
        cfuse_log_keep("/dev/fuse: %s", strerror(errno));
        return -errno;
    }
    char data[256];
    snprintf(data, sizeof data, "fd=%d,rootmode=%o,user_id=%u,group_id=%u%s", device, status.st_mode & S_IFMT, getuid(),
             getgid(), how->data);
    if (mount(how->source, path, how->type, how->flags, data) == 0) return device;
    int error = errno;
    close(device);
    return -error;
}

/// The descriptor that fusermount3 sends, or -1.
static int receive_device(int channel) {
    char byte;
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t got;
    do got = recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    struct cmsghdr *header = got > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (!header || header->cmsg_type != SCM_RIGHTS) return -1;
    int device;
    memcpy(&device, CMSG_DATA(header), sizeof device);
    return device;
}

/// Records the first line of a program's output.
static void keep_complaint(int pipe) {
    char text[400];
    size_t size = 0;
    ssize_t got;
    while ((got = read(pipe, text + size, sizeof text - 1 - size)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0 && (size += (size_t)got) == sizeof text - 1) break;
    text[size] = 0;
    if (size > 0) cfuse_log_keep("%s", text);
}

/// The environment, and the socket to which fusermount3 sends the device.
static char **helper_environment(void) {
    size_t count = 0;
    while (environ[count]) count++;
    char **copy = calloc(count + 2, sizeof *copy);
    if (!copy) return NULL;
    copy[0] = "_FUSE_COMMFD=3";
    memcpy(copy + 1, environ, count * sizeof *copy);
    return copy;
}

static int spawn_helper(pid_t *child, int channel, int complaints, const char *options, const char *path) {
    char *const arguments[] = {"fusermount3", "-o", (char *)options, "--", (char *)path, NULL};
    char **environment = helper_environment();
    if (!environment) return ENOMEM;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, complaints, 2);
    posix_spawn_file_actions_adddup2(&actions, channel, 3);
    int error = posix_spawnp(child, "fusermount3", &actions, NULL, arguments, environment);
    if (error == ENOENT) error = posix_spawn(child, "/usr/bin/fusermount3", &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return error;
}

/// For unprivileged users, the set-user-ID program mounts. The device's descriptor, or -errno.
static int mount_by_helper(const char *path, const struct cfuse_mount *how) {
    int channel[2], complaints[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel) != 0) return -errno;
    if (pipe2(complaints, O_CLOEXEC) != 0) {
        int error = errno;
        close(channel[0]), close(channel[1]);
        return -error;
    }
    pid_t child;
    int error = spawn_helper(&child, channel[1], complaints[1], how->options, path);
    close(channel[1]), close(complaints[1]);
    int device = -1;
    if (error == 0) {
        keep_complaint(complaints[0]);
        device = receive_device(channel[0]);
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    } else {
        cfuse_log_keep("fusermount3: %s", strerror(error));
    }
    close(channel[0]), close(complaints[0]);
    return device >= 0 ? device : -(error ? error : EPERM);
}

int cfuse_mount(const char *path, const struct cfuse_mount *how) {
    int device = mount_directly(path, how);
    if (device == -EPERM) return mount_by_helper(path, how);
    if (device < 0 && !*cfuse_log_text()) cfuse_log_keep("%s", strerror(-device));
    return device;
}
