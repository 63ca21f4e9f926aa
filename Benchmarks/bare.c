// The least that a filesystem in user space costs: it passes each request on to a folder below and keeps nothing but
// names. It asks the kernel for what mount.replica asks for (passthrough of reads and writes, an hour's memory of names and
// attributes, no OPENDIR), so the kernel sends it the same requests. One thread, no library; where the kernel offers to hand
// requests over by io_uring, mount.replica's own rings, and a thread for each processor. For comparison only: root alone may
// use it, and it knows no more calls than the loads of Benchmarks/run make.
//
//   bare FOLDER MOUNTPOINT    serves in the background until it is unmounted
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "CFuse.h"
#include "hooks.h"
#include "rings.h"
#include "service.h"
#include "wire.h"

// Of Linux 6.9 and 6.14, which older headers do not have.
enum { PASSTHROUGH_INIT = 1 << 5, PASSTHROUGH_OPEN = 1 << 7, RINGS_INIT = 1 << 9 };
struct backing_map {
    int32_t fd;
    uint32_t flags;
    uint64_t padding;
};
#define BACKING_OPEN _IOW(229, 1, struct backing_map)
#define BACKING_CLOSE _IOW(229, 2, uint32_t)

enum { HOUR = 3600, MOST_NODES = 1 << 20 };

// A name below and the number that the kernel calls it by.
struct node {
    uint64_t parent;
    char *name;
    uint64_t lookups;
    int folder;         // An O_PATH descriptor of a folder, or -1.
    int file, backing;  // What all who have the file open share, and what the kernel calls it.
    int opens;
};

static struct node nodes[MOST_NODES];
static uint64_t free_nodes[MOST_NODES], free_count, node_count = FUSE_ROOT_ID + 1;
static int device;
static struct service service;
static struct rings *rings;

static void check(int result, const char *what) {
    if (result >= 0) return;
    fprintf(stderr, "bare: %s: %s\n", what, strerror(errno));
    exit(1);
}

// MARK: Names

enum { BUCKETS = 1 << 18 };
static struct link {
    struct link *next;
    uint64_t parent, node;
    char name[];
} *buckets[BUCKETS];

static struct link **find_link(uint64_t parent, const char *name) {
    uint64_t hash = parent * 0x9e3779b97f4a7c15;
    for (const char *byte = name; *byte; byte++) hash = (hash ^ (unsigned char)*byte) * 0x100000001b3;
    struct link **link = &buckets[(hash >> 20) % BUCKETS];
    while (*link && ((*link)->parent != parent || strcmp((*link)->name, name))) link = &(*link)->next;
    return link;
}

static void bind_name(uint64_t parent, const char *name, uint64_t number) {
    struct link **link = find_link(parent, name);
    if (!*link) {
        size_t length = strlen(name) + 1;
        *link = malloc(sizeof **link + length);
        (*link)->next = NULL;
        (*link)->parent = parent;
        memcpy((*link)->name, name, length);
    }
    (*link)->node = number;
    free(nodes[number].name);
    nodes[number].parent = parent;
    nodes[number].name = strdup(name);
}

static void unbind_name(uint64_t parent, const char *name) {
    struct link **link = find_link(parent, name), *gone = *link;
    if (!gone) return;
    *link = gone->next;
    free(gone);
}

static uint64_t node_of(uint64_t parent, const char *name) {
    struct link *link = *find_link(parent, name);
    if (link) return link->node;
    uint64_t number = free_count ? free_nodes[--free_count] : node_count++;
    if (number >= MOST_NODES) abort();
    nodes[number] = (struct node){.folder = -1};
    bind_name(parent, name, number);
    return number;
}

static void forget(uint64_t number, uint64_t count) {
    struct node *node = &nodes[number];
    if (number == FUSE_ROOT_ID || (node->lookups -= count) > 0) return;
    struct link *link = *find_link(node->parent, node->name);
    if (link && link->node == number) unbind_name(node->parent, node->name);
    if (node->folder >= 0) close(node->folder);
    free(node->name);
    node->name = NULL;
    free_nodes[free_count++] = number;
}

static int folder_of(uint64_t number) {
    struct node *node = &nodes[number];
    if (node->folder < 0)
        node->folder = openat(folder_of(node->parent), node->name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return node->folder;
}

// MARK: Answers

static union {
    struct fuse_in_header header;
    char bytes[(1 << 20) + 4096];
} request;
static struct {
    struct fuse_out_header header;
    char body[1 << 17];
} reply;

static const struct fuse_in_header *header = &request.header;
static const void *argument = &request.header + 1;
#define BODY(type) (*(struct type *)reply.body)

static void fill(struct fuse_attr *attributes, const struct statx *status, uint64_t number) {
    *attributes = (struct fuse_attr){
        .ino = number, .size = status->stx_size, .blocks = status->stx_blocks,
        .atime = (uint64_t)status->stx_atime.tv_sec, .atimensec = status->stx_atime.tv_nsec,
        .mtime = (uint64_t)status->stx_mtime.tv_sec, .mtimensec = status->stx_mtime.tv_nsec,
        .ctime = (uint64_t)status->stx_ctime.tv_sec, .ctimensec = status->stx_ctime.tv_nsec,
        .mode = status->stx_mode, .nlink = status->stx_nlink, .uid = status->stx_uid, .gid = status->stx_gid,
        .blksize = status->stx_blksize};
}

// Looks at a name below and fills in what the kernel is to know of it. Returns the size of that or a negative errno.
static int enter(uint64_t parent, const char *name, struct fuse_entry_out *entry) {
    struct statx status;
    if (statx(folder_of(parent), name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &status) < 0) return -errno;
    uint64_t number = node_of(parent, name);
    nodes[number].lookups++;
    *entry = (struct fuse_entry_out){.nodeid = number, .entry_valid = HOUR, .attr_valid = HOUR};
    fill(&entry->attr, &status, number);
    return sizeof *entry;
}

static int attributes(uint64_t number) {
    struct statx status;
    const struct node *node = &nodes[number];
    bool is_root = number == FUSE_ROOT_ID;
    int result = statx(
        is_root ? folder_of(number) : folder_of(node->parent), is_root ? "" : node->name,
        AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, STATX_BASIC_STATS, &status);
    if (result < 0) return -errno;
    BODY(fuse_attr_out) = (struct fuse_attr_out){.attr_valid = HOUR};
    fill(&BODY(fuse_attr_out).attr, &status, number);
    return sizeof(struct fuse_attr_out);
}

static struct timespec time_of(uint32_t valid, uint32_t which, uint32_t now, uint64_t seconds, uint32_t nanoseconds) {
    if (valid & now) return (struct timespec){.tv_nsec = UTIME_NOW};
    if (!(valid & which)) return (struct timespec){.tv_nsec = UTIME_OMIT};
    return (struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = nanoseconds};
}

static int set_attributes(uint64_t number, const struct fuse_setattr_in *in) {
    int folder = folder_of(nodes[number].parent);
    const char *name = nodes[number].name;
    if (in->valid & FATTR_MODE && fchmodat(folder, name, in->mode & 07777, 0) < 0) return -errno;
    if (in->valid & (FATTR_UID | FATTR_GID)) {
        uid_t user = in->valid & FATTR_UID ? in->uid : (uid_t)-1;
        gid_t group = in->valid & FATTR_GID ? in->gid : (gid_t)-1;
        if (fchownat(folder, name, user, group, AT_SYMLINK_NOFOLLOW) < 0) return -errno;
    }
    if (in->valid & FATTR_SIZE) {
        int file = openat(folder, name, O_WRONLY | O_CLOEXEC);
        if (file < 0 || ftruncate(file, (off_t)in->size) < 0) return -errno;
        close(file);
    }
    if (in->valid & (FATTR_ATIME | FATTR_MTIME)) {
        struct timespec times[2] = {
            time_of(in->valid, FATTR_ATIME, FATTR_ATIME_NOW, in->atime, in->atimensec),
            time_of(in->valid, FATTR_MTIME, FATTR_MTIME_NOW, in->mtime, in->mtimensec)};
        if (utimensat(folder, name, times, AT_SYMLINK_NOFOLLOW) < 0) return -errno;
    }
    return attributes(number);
}

// Registers a file that nobody else has open.
static int back(uint64_t number, int file) {
    struct backing_map map = {.fd = file};
    int backing = file < 0 ? -1 : ioctl(device, BACKING_OPEN, &map);
    if (backing < 0) return -errno;
    nodes[number].file = file;
    nodes[number].backing = backing;
    return 0;
}

static int opened(uint64_t number, struct fuse_open_out *out) {
    struct node *node = &nodes[number];
    node->opens++;
    *out = (struct fuse_open_out){.fh = number, .open_flags = PASSTHROUGH_OPEN, .padding = (uint32_t)node->backing};
    return sizeof *out;
}

static int create(uint64_t parent, const struct fuse_create_in *in, const char *name) {
    int flags = (int)in->flags & (O_CREAT | O_EXCL | O_TRUNC);
    int file = openat(folder_of(parent), name, flags | O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, in->mode);
    if (file < 0) return -errno;
    int result = enter(parent, name, &BODY(fuse_entry_out));
    if (result < 0) return result;
    uint64_t number = BODY(fuse_entry_out).nodeid;
    int error = back(number, file);
    return error < 0 ? error : result + opened(number, (struct fuse_open_out *)(reply.body + result));
}

static int open_file(uint64_t number) {
    const struct node *node = &nodes[number];
    // All who have it open share one backing file, as the kernel demands.
    if (node->opens == 0) {
        int error = back(number, openat(folder_of(node->parent), node->name, O_RDWR | O_CLOEXEC | O_NOFOLLOW));
        if (error < 0) return error;
    }
    return opened(number, &BODY(fuse_open_out));
}

static int release(uint64_t number) {
    struct node *node = &nodes[number];
    if (--node->opens > 0) return 0;
    uint32_t backing = (uint32_t)node->backing;
    ioctl(device, BACKING_CLOSE, &backing);
    close(node->file);
    return 0;
}

// MARK: Folders

static int list(uint64_t number, const struct fuse_read_in *in, bool with_entries) {
    static char lines[1 << 15];
    int folder = openat(folder_of(number), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return -errno;
    if (in->offset) lseek(folder, (off_t)in->offset, SEEK_SET);
    size_t used = 0, head = with_entries ? FUSE_NAME_OFFSET_DIRENTPLUS : FUSE_NAME_OFFSET;
    bool is_full = false;
    for (long got; !is_full && (got = syscall(SYS_getdents64, folder, lines, sizeof lines)) > 0;) {
        for (long at = 0; at < got && !is_full;) {
            struct dirent64 *line = (void *)(lines + at);
            at += line->d_reclen;
            size_t length = strlen(line->d_name), size = FUSE_DIRENT_ALIGN(head + length);
            is_full = used + size > in->size || used + size > sizeof reply.body;
            if (is_full) break;
            struct fuse_direntplus *plus = (void *)(reply.body + used);
            struct fuse_dirent *entry = with_entries ? &plus->dirent : (void *)(reply.body + used);
            memset(plus, 0, head);
            *entry = (struct fuse_dirent){
                .ino = line->d_ino, .off = (uint64_t)line->d_off, .namelen = (uint32_t)length, .type = line->d_type};
            memcpy(entry->name, line->d_name, length);
            bool is_dot = !strcmp(line->d_name, ".") || !strcmp(line->d_name, "..");
            if (with_entries && !is_dot) enter(number, line->d_name, &plus->entry_out);
            used += size;
        }
    }
    close(folder);
    return (int)used;
}

static int sync_file(uint64_t number) { return fsync(nodes[number].file) < 0 ? -errno : 0; }

static int sync_folder(uint64_t number) {
    int folder = openat(folder_of(number), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int result = fsync(folder) < 0 ? -errno : 0;
    close(folder);
    return result;
}

static int rename_entry(uint64_t parent, uint64_t target, const char *name, unsigned flags) {
    const char *new = name + strlen(name) + 1;
    if (renameat2(folder_of(parent), name, folder_of(target), new, flags) < 0) return -errno;
    struct link *link = *find_link(parent, name);
    uint64_t number = link ? link->node : 0;
    unbind_name(parent, name);
    unbind_name(target, new);
    if (number) bind_name(target, new, number);
    return 0;
}

static int remove_entry(uint64_t parent, const char *name, int flags) {
    if (unlinkat(folder_of(parent), name, flags) < 0) return -errno;
    unbind_name(parent, name);
    return 0;
}

static int link_entry(uint64_t number, uint64_t parent, const char *name) {
    const struct node *node = &nodes[number];
    if (linkat(folder_of(node->parent), node->name, folder_of(parent), name, 0) < 0) return -errno;
    bind_name(parent, name, number);
    return enter(parent, name, &BODY(fuse_entry_out));
}

static int begin(const struct fuse_init_in *in) {
    memset(reply.body, 0, sizeof(struct fuse_init_out));
    uint32_t flags = FUSE_ASYNC_READ | FUSE_BIG_WRITES | FUSE_PARALLEL_DIROPS | FUSE_DO_READDIRPLUS |
        FUSE_READDIRPLUS_AUTO | FUSE_NO_OPENDIR_SUPPORT | FUSE_HANDLE_KILLPRIV_V2 | FUSE_MAX_PAGES |
        FUSE_EXPLICIT_INVAL_DATA | FUSE_INIT_EXT;
    BODY(fuse_init_out) = (struct fuse_init_out){
        .major = 7, .minor = in->minor, .max_readahead = in->max_readahead, .flags = flags, .max_background = 64,
        .congestion_threshold = 48, .max_write = 1 << 20, .time_gran = 1, .max_pages = 256, .flags2 = PASSTHROUGH_INIT};
    service = (struct service){.fd = device, .answers_at_once = true};
    if (in->flags2 & RINGS_INIT && (rings = rings_new(&service, 1))) BODY(fuse_init_out).flags2 |= RINGS_INIT;
    *(uint32_t *)(reply.body + offsetof(struct fuse_init_out, flags2) + 4) = 1;  // max_stack_depth
    return sizeof(struct fuse_init_out);
}

static int answer(void) {
    const char *name = argument;
    switch (header->opcode) {
        case FUSE_INIT: return begin(argument);
        case FUSE_LOOKUP: {
            int result = enter(header->nodeid, name, &BODY(fuse_entry_out));
            if (result != -ENOENT) return result;
            BODY(fuse_entry_out) = (struct fuse_entry_out){.entry_valid = HOUR};
            return sizeof(struct fuse_entry_out);
        }
        case FUSE_GETATTR: return attributes(header->nodeid);
        case FUSE_SETATTR: return set_attributes(header->nodeid, argument);
        case FUSE_CREATE:
            return create(header->nodeid, argument, name + sizeof(struct fuse_create_in));
        case FUSE_OPEN: return open_file(header->nodeid);
        case FUSE_RELEASE: return release(header->nodeid);
        case FUSE_MKDIR:
            name += sizeof(struct fuse_mkdir_in);
            if (mkdirat(folder_of(header->nodeid), name, ((const struct fuse_mkdir_in *)argument)->mode) < 0) return -errno;
            return enter(header->nodeid, name, &BODY(fuse_entry_out));
        case FUSE_UNLINK: return remove_entry(header->nodeid, name, 0);
        case FUSE_RMDIR: return remove_entry(header->nodeid, name, AT_REMOVEDIR);
        case FUSE_RENAME:
            return rename_entry(
                header->nodeid, ((const struct fuse_rename_in *)argument)->newdir, name + sizeof(struct fuse_rename_in), 0);
        case FUSE_RENAME2:
            return rename_entry(
                header->nodeid, ((const struct fuse_rename2_in *)argument)->newdir, name + sizeof(struct fuse_rename2_in),
                ((const struct fuse_rename2_in *)argument)->flags);
        case FUSE_LINK:
            return link_entry(
                ((const struct fuse_link_in *)argument)->oldnodeid, header->nodeid, name + sizeof(struct fuse_link_in));
        case FUSE_READDIR: return list(header->nodeid, argument, false);
        case FUSE_READDIRPLUS: return list(header->nodeid, argument, true);
        case FUSE_FSYNC: return sync_file(header->nodeid);
        case FUSE_FSYNCDIR: return sync_folder(header->nodeid);
        case FUSE_GETXATTR: return -ENODATA;
        default: return -ENOSYS;
    }
}

static void make_reply(void) {
    int result = answer();
    reply.header = (struct fuse_out_header){.unique = header->unique, .error = result < 0 ? result : 0};
    reply.header.len = (uint32_t)(sizeof reply.header + (result > 0 ? (size_t)result : 0));
}

// MARK: Over io_uring

// Of all that is above.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool service_answers_at_once(const struct service *unused, const struct wire_in_header *given) { return true; }

/// What the rings ask of a service, and of a thread.
void cfuse_prepare_thread_for_faults(void) {}
void hooks_serve(struct service *unused, struct wire_in_header *given, size_t size) {
    pthread_mutex_lock(&lock);
    memcpy(&request, given, size);
    make_reply();
    struct iovec parts[2] = {
        {.iov_base = &reply.header, .iov_len = sizeof reply.header},
        {.iov_base = reply.body, .iov_len = reply.header.len - sizeof reply.header}};
    rings_answer(device, parts, 2);
    pthread_mutex_unlock(&lock);
}

// MARK: By the device

// False for what is not answered.
static bool serve_request(void) {
    if (header->opcode == FUSE_FORGET) {
        forget(header->nodeid, ((const struct fuse_forget_in *)argument)->nlookup);
        return false;
    }
    if (header->opcode == FUSE_BATCH_FORGET) {
        const struct fuse_batch_forget_in *batch = argument;
        const struct fuse_forget_one *one = (const void *)(batch + 1);
        for (uint32_t index = 0; index < batch->count; index++) forget(one[index].nodeid, one[index].nlookup);
        return false;
    }
    make_reply();
    return true;
}

static char received[sizeof request];

static void serve(void) {
    for (;;) {
        ssize_t got = read(device, received, sizeof received);
        if (got < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN)) continue;
        if (got < 0) return;
        pthread_mutex_lock(&lock);
        memcpy(&request, received, (size_t)got);
        bool is_first = header->opcode == FUSE_INIT;
        bool is_answered = serve_request();
        bool is_gone = is_answered && write(device, &reply, reply.header.len) < 0 && errno == ENODEV;
        pthread_mutex_unlock(&lock);
        if (is_gone) return;
        if (is_first && rings) rings_start(rings);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: bare FOLDER MOUNTPOINT\n");
        return 2;
    }
    char options[128];
    umask(0);
    nodes[FUSE_ROOT_ID] = (struct node){.folder = open(argv[1], O_PATH | O_DIRECTORY | O_CLOEXEC)};
    check(nodes[FUSE_ROOT_ID].folder, argv[1]);
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    check(device, "/dev/fuse");
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0,default_permissions", device);
    check(mount("bare", argv[2], "fuse.bare", 0, options), "mount");
    check(daemon(0, 1), "daemon");
    serve();
    return 0;
}
