// Linux calls that Swift's Glibc module lacks: declarations and constants, no code.
// No header below sys/ may be included here: its types would then belong to this module.
#ifndef CLINUX_H
#define CLINUX_H

#include <stddef.h>
#include <stdint.h>

int renameat2(int fromFolder, const char *from, int toFolder, const char *to, unsigned int flags);
#define CL_RENAME_NOREPLACE 1
#define CL_RENAME_EXCHANGE 2

long fgetxattr(int fd, const char *name, void *value, size_t size);
int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags);
long flistxattr(int fd, char *list, size_t size);
int fremovexattr(int fd, const char *name);
long getxattr(const char *path, const char *name, void *value, size_t size);
int setxattr(const char *path, const char *name, const void *value, size_t size, int flags);
long listxattr(const char *path, char *list, size_t size);
int removexattr(const char *path, const char *name);
long lgetxattr(const char *path, const char *name, void *value, size_t size);
int lsetxattr(const char *path, const char *name, const void *value, size_t size, int flags);
long llistxattr(const char *path, char *list, size_t size);
int lremovexattr(const char *path, const char *name);

long copy_file_range(int from, int64_t *fromOffset, int to, int64_t *toOffset, size_t length, unsigned int flags);
int fallocate(int fd, int mode, int64_t offset, int64_t length);
int syncfs(int fd);
int gettid(void);
int memfd_create(const char *name, unsigned int flags);
#define CL_MFD_CLOEXEC 1U
int pipe2(int ends[2], int flags);
int sync_file_range(int fd, int64_t offset, int64_t length, unsigned int flags);
#define CL_SYNC_FILE_RANGE_WAIT_BEFORE 1U
#define CL_SYNC_FILE_RANGE_WRITE 2U
int unshare(int flags);
int setfsuid(uint32_t user);
int setfsgid(uint32_t group);

/// Has a link to each open file of this process, by its descriptor: a path for calls that don't take descriptors.
#define CL_DESCRIPTORS "/proc/self/fd/"
/// The file with this boot's ID, in hexadecimal digits and dashes.
#define CL_BOOT_ID "/proc/sys/kernel/random/boot_id"

#define CL_O_PATH 0x200000
#define CL_O_TMPFILE 0x410000
#define CL_O_DIRECT 0x4000
/// The kernel's O_LARGEFILE, which it sets itself for each open(2) of a 64-bit program; glibc's is 0.
#ifdef __aarch64__
#define CL_O_LARGEFILE 0x20000
#else
#define CL_O_LARGEFILE 0x8000
#endif
#define CL_O_NOATIME 0x40000
#define CL_AT_EMPTY_PATH 0x1000
#define CL_AT_SYMLINK_FOLLOW 0x400
#define CL_CLONE_NEWNS 0x20000
#define CL_CLONE_FS 0x200
#define CL_FICLONE 0x40049409
/// ioctl_iflags(2) and ioctl_fsgetxattr(2), with the numbers of 64-bit kernels.
#define CL_FS_IOC_GETFLAGS 0x80086601U
#define CL_FS_CASEFOLD_FL 0x40000000
#define CL_FS_IOC_SETFLAGS 0x40086602U
#define CL_FS_IOC_FSGETXATTR 0x801c581fU
#define CL_FS_IOC_FSSETXATTR 0x401c5820U
#define CL_FS_SYNC_FL 0x8U
#define CL_FS_IMMUTABLE_FL 0x10U
#define CL_FS_APPEND_FL 0x20U
#define CL_FS_NODUMP_FL 0x40U
#define CL_FS_NOATIME_FL 0x80U
#define CL_FS_JOURNAL_DATA_FL 0x4000U
#define CL_FS_XFLAG_IMMUTABLE 0x8U
#define CL_FS_XFLAG_APPEND 0x10U
#define CL_UTIME_NOW 0x3fffffffL
#define CL_UTIME_OMIT 0x3ffffffeL
#define CL_SEEK_DATA 3
#define CL_FALLOC_FL_KEEP_SIZE 1
#define CL_F_SETSIG 10
#define CL_F_SETLEASE 1024
#define CL_FALLOC_FL_PUNCH_HOLE 2
#define CL_SEEK_HOLE 4
#define CL_M_ARENA_MAX (-8)
#define CL_M_TRIM_THRESHOLD (-1)

int cl_pipe2(int *ends, int flags) __asm__("pipe2");
int cl_dup3(int old, int fresh, int flags) __asm__("dup3");
/// Clones the mount at the path, outside any namespace, so that the original mount does not become busy.
int cl_open_tree(int folder, const char *path, unsigned int flags) __asm__("open_tree");
/// struct mount_attr of <linux/mount.h>.
struct cl_mount_attributes {
    uint64_t set, clear, propagation, user_namespace;
};
int cl_mount_setattr(int folder, const char *path, unsigned int flags, struct cl_mount_attributes *attributes, size_t size)
    __asm__("mount_setattr");
#define CL_MOUNT_ATTR_ATIME 0x70
#define CL_MOUNT_ATTR_NOATIME 0x10
#define CL_MOUNT_ATTR_STRICTATIME 0x20
#define CL_OPEN_TREE_CLONE 1
/// syscall(2) for a call that begins with a folder and a path and has no wrapper. One declaration for all of them: Swift's
/// compiler crashes on a symbol of several types.
long cl_call_at(
    long number, int folder, const char *path, uintptr_t third, uintptr_t fourth, uintptr_t fifth, uintptr_t sixth)
    __asm__("syscall");
/// openat2(2): the address of the structure, and its size.
struct cl_open_how {
    uint64_t flags, mode, resolve;
};
#define CL_SYS_OPENAT2 437
#define CL_RESOLVE_NO_XDEV 1
#define CL_RESOLVE_NO_MAGICLINKS 2
#define CL_RESOLVE_NO_SYMLINKS 4
#define CL_RESOLVE_BENEATH 8
/// getxattrat(2) (Linux 6.13): flags, the attribute's name, the address of the structure, and its size.
struct cl_xattr_args {
    uint64_t value;
    uint32_t size, flags;
};
#define CL_SYS_GETXATTRAT 464
/// With CL_CLOSE_RANGE_UNSHARE the calling thread first gets its own descriptor table, in which they are closed.
int cl_close_range(unsigned int first, unsigned int last, unsigned int flags) __asm__("close_range");
#define CL_CLOSE_RANGE_UNSHARE 2
long cl_getdents64(int folder, void *buffer, size_t length) __asm__("getdents64");
/// struct file_handle of name_to_handle_at(2), with the maximum size.
struct cl_file_handle {
    uint32_t size;
    int32_t type;
    uint8_t bytes[128];
};
int cl_name_to_handle(int folder, const char *path, struct cl_file_handle *handle, int *mount, int flags)
    __asm__("name_to_handle_at");
int cl_open_by_handle(int mount, const struct cl_file_handle *handle, int flags) __asm__("open_by_handle_at");
/// Of posix_spawn_file_actions_t: for programs that are started.
int cl_spawn_closefrom(void *actions, int first) __asm__("posix_spawn_file_actions_addclosefrom_np");
int cl_spawn_chdir(void *actions, const char *path) __asm__("posix_spawn_file_actions_addchdir_np");
/// pidfd_open(2): `number` is CL_SYS_PIDFD_OPEN.
long cl_pidfd_open(long number, int process, unsigned int flags) __asm__("syscall");
#define CL_SYS_PIDFD_OPEN 434
/// prctl(2), which is variadic.
int cl_prctl(int option, unsigned long second, unsigned long third, unsigned long fourth, unsigned long fifth)
    __asm__("prctl");
#define CL_PR_SET_PDEATHSIG 1
#define CL_PR_GET_DUMPABLE 3
#define CL_PR_SET_DUMPABLE 4
#define CL_PR_SET_NO_NEW_PRIVS 38
#define CL_PR_SET_SECCOMP 22
/// eventfd(2).
int cl_eventfd(unsigned int value, int flags) __asm__("eventfd");
#define CL_EFD_CLOEXEC 02000000
#define CL_EFD_NONBLOCK 04000
int cl_accept4(int socket, void *address, void *length, int flags) __asm__("accept4");
int cl_malloc_option(int option, int value) __asm__("mallopt");
int cl_name_thread(unsigned long thread, const char *name) __asm__("pthread_setname_np");

/// struct ucred of <sys/socket.h>, which Glibc has only with _GNU_SOURCE.
struct cl_ucred {
    int32_t pid;
    uint32_t uid, gid;
};

/// struct statx of <linux/stat.h>, with a name of our own.
struct cl_statx_time {
    int64_t seconds;
    uint32_t nanoseconds;
    int32_t reserved;
};
struct cl_statx {
    uint32_t mask, blksize;
    uint64_t attributes;
    uint32_t nlink, uid, gid;
    uint16_t mode, pad;
    uint64_t ino, size, blocks, attributes_mask;
    struct cl_statx_time atime, btime, ctime, mtime;
    uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
    uint64_t mnt_id;
    uint32_t dio_mem_align, dio_offset_align;
    uint64_t spare[12];
};
int cl_statx_of(int folder, const char *path, int flags, unsigned int mask, struct cl_statx *out) __asm__("statx");
/// struct statfs of <sys/statfs.h> up to its type, with space for the rest, on 64-bit machines.
struct cl_statfs {
    int64_t type;
    int64_t rest[15];
};
int cl_statfs_of(int file, struct cl_statfs *out) __asm__("fstatfs");
#define CL_STATX_MODE 0x2U
#define CL_STATX_BTIME 0x800U
#define CL_STATX_ALL 0xfffU
#define CL_STATX_MNT_ID 0x1000U
#define CL_STATX_ATTR_MOUNT_ROOT 0x2000UL
#define CL_STATX_MNT_ID_UNIQUE 0x4000U
#define CL_AT_STATX_DONT_SYNC 0x4000
#define CL_UMOUNT_NOFOLLOW 8

#endif
