// The parts of the kernel's FUSE protocol that libfuse 3.14 doesn't expose: <linux/fuse.h>, with names of our own.
#ifndef CFUSE_WIRE_H
#define CFUSE_WIRE_H
#include <stddef.h>
#include <stdint.h>
#include <linux/ioctl.h>

enum {
    WIRE_LOOKUP = 1, WIRE_FORGET = 2, WIRE_GETATTR = 3, WIRE_SETATTR = 4, WIRE_READLINK = 5, WIRE_SYMLINK = 6,
    WIRE_MKNOD = 8, WIRE_MKDIR = 9, WIRE_UNLINK = 10, WIRE_RMDIR = 11, WIRE_RENAME = 12, WIRE_LINK = 13, WIRE_OPEN = 14,
    WIRE_WRITE = 16, WIRE_STATFS = 17, WIRE_RELEASE = 18, WIRE_FSYNC = 20, WIRE_SETXATTR = 21, WIRE_GETXATTR = 22, WIRE_LISTXATTR = 23, WIRE_REMOVEXATTR = 24, WIRE_FLUSH = 25, WIRE_INIT = 26,
    WIRE_OPENDIR = 27, WIRE_READDIR = 28, WIRE_RELEASEDIR = 29, WIRE_FSYNCDIR = 30, WIRE_ACCESS = 34, WIRE_CREATE = 35,
    WIRE_INTERRUPT = 36, WIRE_BATCH_FORGET = 42, WIRE_READDIRPLUS = 44, WIRE_RENAME2 = 45, WIRE_TMPFILE = 51,
    WIRE_STATX = 52,
};
enum { WIRE_WRITE_KILL_SUIDGID = 1 << 2, WIRE_OPEN_KILL_SUIDGID = 1 << 0 };
enum { WIRE_SETXATTR_ACL_KILL_SGID = 1 << 0 };
enum { WIRE_INIT_SETXATTR_EXT = 1 << 29, WIRE_INIT_EXT = 1 << 30 };
/// In the flags combined with `flags2`.
#define WIRE_INIT_OVER_IO_URING ((uint64_t)1 << 41)

struct wire_in_header {
    uint32_t length, opcode;
    uint64_t unique, node;
    uint32_t uid, gid, pid;
    uint16_t extension_length, padding;
};
struct wire_out_header {
    uint32_t length;
    int32_t error;
    uint64_t unique;
};
struct wire_init_in {
    uint32_t major, minor, max_readahead, flags, flags2, unused[11];
};
struct wire_init_out {
    uint32_t major, minor, max_readahead, flags;
    uint16_t max_background, congestion_threshold;
    uint32_t max_write, time_gran;
    uint16_t max_pages, map_alignment;
    uint32_t flags2, max_stack_depth, unused[6];
};
struct wire_open_in {
    uint32_t flags, open_flags;
};
struct wire_create_in {
    uint32_t flags, mode, umask, open_flags;
};
struct wire_write_in {
    uint64_t handle, offset;
    uint32_t size, write_flags;
    uint64_t lock_owner;
    uint32_t flags, padding;
};
struct wire_open_out {
    uint64_t handle;
    uint32_t open_flags;
    int32_t backing;
};
/// Before WIRE_INIT_SETXATTR_EXT it ended with `flags`. The name and the value follow.
struct wire_setxattr_in {
    uint32_t size, flags, setxattr_flags, padding;
};
enum { WIRE_OLD_SETXATTR_IN = 8 };
struct wire_time {
    int64_t seconds;
    uint32_t nanoseconds;
    int32_t reserved;
};
struct wire_statx_out {
    uint64_t valid;
    uint32_t valid_nanoseconds, flags;
    uint64_t spare[2];
    uint32_t mask, blksize;
    uint64_t attributes;
    uint32_t nlink, uid, gid;
    uint16_t mode, spare0;
    uint64_t ino, size, blocks, attributes_mask;
    struct wire_time atime, btime, ctime, mtime;
    uint32_t rdev_major, rdev_minor, dev_major, dev_minor;
    uint64_t spare2[14];
};
/// FUSE over io_uring: the headers of an entry, in both directions.
struct wire_ring_sizes {
    uint64_t flags, commit;
    uint32_t payload, padding;
    uint64_t reserved;
};
struct wire_ring_header {
    char in_out[128], operation[128];
    struct wire_ring_sizes sizes;
};
struct wire_ring_command {
    uint64_t flags, commit;
    uint16_t queue;
    uint8_t padding[6];
};
enum { WIRE_RING_REGISTER = 1, WIRE_RING_COMMIT_AND_FETCH = 2 };
struct wire_backing_map {
    int32_t fd;
    uint32_t flags;
    uint64_t padding;
};
#define WIRE_BACKING_OPEN _IOW(229, 1, struct wire_backing_map)
#define WIRE_BACKING_CLOSE _IOW(229, 2, uint32_t)

_Static_assert(sizeof(struct wire_in_header) == 40, "fuse_in_header");
_Static_assert(sizeof(struct wire_init_out) == 64, "fuse_init_out");
_Static_assert(sizeof(struct wire_open_out) == 16, "fuse_open_out");
_Static_assert(sizeof(struct wire_statx_out) == 288, "fuse_statx_out");
_Static_assert(sizeof(struct wire_write_in) == 40, "fuse_write_in");
_Static_assert(sizeof(struct wire_setxattr_in) == 16, "fuse_setxattr_in");
_Static_assert(sizeof(struct wire_ring_header) == 288, "fuse_uring_req_header");
_Static_assert(sizeof(struct wire_ring_command) == 24, "fuse_uring_cmd_req");

#endif
