#define _GNU_SOURCE
#include "CFuse.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// libfuse gets a device that is already mounted (/dev/fd/N): it would mount without the flags that it doesn't know, and
// at the end of a session it would unmount by path, regardless of what is mounted there.

extern char **environ;

/// Records which call failed. -errno.
static int failed(const char *call) {
    int error = errno;
    cfuse_log_keep("%s: %s", call, strerror(error));
    return -error;
}

static int open_device(void) {
    int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    return device < 0 ? failed("/dev/fuse") : device;
}

/// A parameter of the filesystem, or one of its flags if there is no value. 0 or -errno.
static int configure(int context, const char *key, const char *value) {
    unsigned command = value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;
    return syscall(SYS_fsconfig, context, command, key, value, 0) == 0 ? 0 : failed("fsconfig");
}

static int configure_all(int context, int device, unsigned type, const struct cfuse_mount *how) {
    char numbers[4][16], words[256], *rest = words;
    unsigned values[] = {(unsigned)device, type, getuid(), getgid()};
    for (int n = 0; n < 4; n++) snprintf(numbers[n], sizeof numbers[n], n == 1 ? "%o" : "%u", values[n]);
    const struct {
        const char *key, *value;
    } parameters[] = {{"source", how->source},     {"subtype", strchr(how->type, '.') + 1},
                      {"fd", numbers[0]},          {"rootmode", numbers[1]},
                      {"user_id", numbers[2]},     {"group_id", numbers[3]}};
    const struct {
        unsigned long flag;
        const char *word;
    } flags[] = {{MS_RDONLY, "ro"}, {MS_SYNCHRONOUS, "sync"}, {MS_DIRSYNC, "dirsync"}, {MS_LAZYTIME, "lazytime"}};
    int error = 0;
    for (size_t n = 0; !error && n < sizeof parameters / sizeof *parameters; n++)
        error = configure(context, parameters[n].key, parameters[n].value);
    for (size_t n = 0; !error && n < sizeof flags / sizeof *flags; n++)
        if (how->flags & flags[n].flag) error = configure(context, flags[n].word, NULL);
    snprintf(words, sizeof words, "%s", how->data);
    for (char *word; !error && (word = strsep(&rest, ","));)
        if (*word) error = configure(context, word, NULL);
    return error;
}

/// The flags of mount(2) that belong to the mount, not to the filesystem.
static unsigned attributes(unsigned long flags) {
    // These have the same numbers.
    unsigned found = flags & (MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC);
    if (flags & MS_NODIRATIME) found |= MOUNT_ATTR_NODIRATIME;
    if (flags & MS_NOSYMFOLLOW) found |= MOUNT_ATTR_NOSYMFOLLOW;
    if (flags & MS_STRICTATIME) return found | MOUNT_ATTR_STRICTATIME;
    return flags & MS_NOATIME ? found | MOUNT_ATTR_NOATIME : found;
}

/// A mount that is not attached yet. -errno.
static int new_mount(int device, unsigned type, const struct cfuse_mount *how) {
    int context = (int)syscall(SYS_fsopen, "fuse", FSOPEN_CLOEXEC);
    if (context < 0) return failed("fsopen");
    int error = configure_all(context, device, type, how);
    if (!error && syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0) error = failed("fsconfig");
    int mount = error ? error : (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, attributes(how->flags));
    if (!error && mount < 0) mount = failed("fsmount");
    close(context);
    return mount;
}

/// The device's descriptor, or -errno. No path is used: the mount is identified before anybody else can see it, and
/// attached to the place that is held.
static int mount_directly(
    int place, unsigned type, const struct cfuse_mount *how, struct cmount_identity *identity) {
    int device = open_device();
    if (device < 0) return device;
    int mount = new_mount(device, type, how);
    int error = mount < 0 ? mount : -cmount_identify(mount, identity);
    unsigned by_descriptors = MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH;
    if (!error && syscall(SYS_move_mount, mount, "", place, "", by_descriptors) != 0) error = failed("move_mount");
    if (mount >= 0) close(mount);
    if (!error) return device;
    close(device);
    return error;
}

/// Opens what is mounted on a held directory. No process of this mount namespace can rename a mountpoint in the folder
/// above, and that is held too.
static int open_upon(int place, const char *route) {
    char path[PATH_MAX];
    ssize_t size = readlink(route, path, sizeof path - 1);
    if (size <= 0) return failed("readlink");
    path[size] = 0;
    int above = openat(place, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (above < 0) return failed("openat");
    int root = openat(above, strrchr(path, '/') + 1, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (root < 0) root = failed("openat");
    close(above);
    return root;
}

/// Identifies the mount on a held directory, unless it is another one. 0 or -errno.
static int identify_upon(int place, const char *route, const char *type, struct cmount_identity *identity) {
    int root = open_upon(place, route);
    if (root < 0) return root;
    struct cmount_identity below;
    int error = cmount_identify(place, &below);
    if (!error) error = cmount_identify(root, identity);
    if (!error && !cmount_is_on(identity, below.number, type)) error = EBUSY;
    close(root);
    if (error) cfuse_log_keep("another mount is there by now");
    return -error;
}

/// By mount(2), which containers allow that refuse the calls above. Its path is a magic link to the held directory:
/// nobody can exchange that. The device's descriptor, or -errno.
static int mount_by_link(
    int place, const char *path, unsigned type, const struct cfuse_mount *how, struct cmount_identity *identity) {
    // The other one belongs to a filesystem by now.
    int device = open_device();
    if (device < 0) return device;
    char route[40], data[512];
    snprintf(route, sizeof route, CMOUNT_PATH_OF_DESCRIPTOR, place);
    snprintf(
        data, sizeof data, "fd=%d,rootmode=%o,user_id=%u,group_id=%u%s", device, type, getuid(), getgid(), how->data);
    bool is_mounted = syscall(SYS_mount, how->source, route, how->type, how->flags, data) == 0;
    int error = is_mounted ? identify_upon(place, route, how->type, identity) : failed("mount");
    if (!error) return device;
    close(device);
    // That made the mount a dead one.
    if (is_mounted && (place = cfuse_place_open_living(path)) >= 0) close(place);
    return error;
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

/// Finds the mount of the helper, or removes it. Another process may have mounted on the same directory, without knowing of
/// this mount: it removes its own again when it sees that (`Mountpoint.refuseStacked`).
static int identify_at(const char *path, const struct cfuse_mount *how, struct cmount_identity *identity) {
    for (int round = 0;; round++) {
        int place = cfuse_place_open(path);
        int error = place < 0 ? -place : cmount_identify(place, identity);
        if (place >= 0) close(place);
        if (error) cmount_run_fusermount(path, true);
        if (error || round == 200 || cmount_is_from(identity, how->type, how->source)) return error;
        usleep(10000);
    }
}

/// For unprivileged users, the set-user-ID program mounts, which makes checks of its own. The device's descriptor, or
/// -errno.
static int mount_by_helper(const char *path, const struct cfuse_mount *how, struct cmount_identity *identity) {
    if (*how->for_root) {
        cfuse_log_keep("only root may mount with '%s'", how->for_root);
        return -EPERM;
    }
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
    if (device < 0) return -(error ? error : EPERM);
    if (!(error = identify_at(path, how, identity))) return device;
    close(device);
    return -error;
}

int cfuse_mount(int place, const char *path, const struct cfuse_mount *how, struct cmount_identity *identity) {
    struct stat status;
    if (fstat(place, &status) != 0) return failed("fstat");
    unsigned type = status.st_mode & S_IFMT;
    int device = mount_directly(place, type, how, identity);
    if (device == -EPERM || device == -EACCES || device == -ENOSYS) {
        cfuse_log_clear();
        bool is_root = geteuid() == 0;
        device = is_root ? mount_by_link(place, path, type, how, identity) : mount_by_helper(path, how, identity);
    }
    if (device < 0 && !*cfuse_log_text()) cfuse_log_keep("%s", strerror(-device));
    return device;
}
