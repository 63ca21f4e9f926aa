#define _GNU_SOURCE
#include "registering.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

/// Opens a file of the kernel's /proc; another filesystem that is mounted there is not believed. -1 with errno set.
static int open_in_proc(const char *name, int flags) {
    struct statfs status;
    int file = -1, folder = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return -1;
    if (fstatfs(folder, &status) == 0) {
        if (status.f_type == PROC_SUPER_MAGIC) file = openat(folder, name, flags | O_CLOEXEC);
        else errno = EOPNOTSUPP;
    }
    int error = errno;
    close(folder);
    errno = error;
    return file;
}

static FILE *read_proc(const char *name) {
    int file = open_in_proc(name, O_RDONLY);
    if (file < 0) return NULL;
    FILE *stream = fdopen(file, "r");
    if (!stream) close(file);
    return stream;
}

/// The device number of the connection's filesystem, from Linux 6.13 on; 0 if it is not mounted, or the kernel does not
/// report it.
static unsigned connection_of(int device) {
    char path[64], line[128];
    unsigned number = 0;
    snprintf(path, sizeof path, "self/fdinfo/%d", device);
    FILE *info = read_proc(path);
    if (!info) return 0;
    while (number == 0 && fgets(line, sizeof line, info)) sscanf(line, "fuse_connection: %u", &number);
    fclose(info);
    return number;
}

/// Whether a line of mountinfo (proc_pid_mountinfo(5)) is for this filesystem, mounted by this user. The kernel writes
/// spaces and line ends of names as \040 and \012.
static bool is_mine(char *line, unsigned connection) {
    char wanted[64], user[64], *rest = strstr(line, " - fuse");
    unsigned major = 1, minor = 0;
    if (!rest || sscanf(line, "%*u %*u %u:%u ", &major, &minor) != 2) return false;
    if (major != 0 || minor != connection) return false;
    char *options = strrchr(rest, ' ') + 1;
    options[strcspn(options, "\n")] = 0;
    snprintf(wanted, sizeof wanted, ",user_id=%u,", getuid());
    snprintf(user, sizeof user, ",user_id=%u", getuid());
    char *found = strstr(options, user);
    return found && (strstr(options, wanted) || strlen(found) == strlen(user));
}

int check_session(int device) {
    struct stat status;
    if (fstat(device, &status) != 0) return -errno;
    if (!S_ISCHR(status.st_mode) || status.st_rdev != makedev(10, 229)) return -ENOTTY;
    unsigned connection = connection_of(device);
    if (connection == 0) return -EOPNOTSUPP;
    FILE *mounts = read_proc("self/mountinfo");
    if (!mounts) return -errno;
    char line[8192];
    bool is_found = false;
    while (!is_found && fgets(line, sizeof line, mounts)) is_found = is_mine(line, connection);
    fclose(mounts);
    return is_found ? 0 : -EPERM;
}

/// Filesystems for data. Others, especially /proc and /sys, check the writer's privileges at a write, and the writer
/// would be this program.
static bool holds_data(int file) {
    static const unsigned types[] = {
        EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC, TMPFS_MAGIC,
        0x2fc12fc1 /* ZFS */, 0xca451a4e /* bcachefs */};
    struct statfs status;
    if (fstatfs(file, &status) != 0) return false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if ((unsigned)status.f_type == types[i]) return true;
    return false;
}

int check_file(int file) {
    struct stat status;
    if (fstat(file, &status) != 0) return -errno;
    if (!S_ISREG(status.st_mode) || !holds_data(file)) return -EOPNOTSUPP;
    // Regardless of the descriptor's mode, the kernel opens the registered file like the FUSE file: for writing too.
    char path[64];
    snprintf(path, sizeof path, "self/fd/%d", file);
    int again = open_in_proc(path, O_RDWR | O_NONBLOCK);
    if (again < 0) return -errno;
    close(again);
    return 0;
}
