// What an empty request costs: a filesystem that knows only its root, asked for the root's attributes, which nobody may
// remember. Prints microseconds. The first argument is the processor of the daemon, the second the program's.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5, REQUESTS = 5000 };

static void check(int result, const char *what) {
    if (result >= 0) return;
    fprintf(stderr, "roundtrip: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void bind_to(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    check(sched_setaffinity(0, sizeof set, &set), "sched_setaffinity");
}

static size_t answer(const struct fuse_in_header *request, struct fuse_out_header *header, void *body) {
    if (request->opcode == FUSE_INIT) {
        const struct fuse_init_in *in = (const void *)(request + 1);
        *(struct fuse_init_out *)body =
            (struct fuse_init_out){.major = 7, .minor = in->minor, .max_write = 1 << 17, .max_background = 64};
        return sizeof(struct fuse_init_out);
    }
    if (request->opcode == FUSE_GETATTR) {
        *(struct fuse_attr_out *)body =
            (struct fuse_attr_out){.attr = {.ino = 1, .mode = S_IFDIR | 0755, .nlink = 2}};
        return sizeof(struct fuse_attr_out);
    }
    header->error = -ENOSYS;
    return 0;
}

static void serve(int device) {
    static union {
        struct fuse_in_header header;
        char bytes[1 << 20];
    } request;
    for (;;) {
        ssize_t got = read(device, &request, sizeof request);
        if (got < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN)) continue;
        if (got < 0) return;
        if (request.header.opcode == FUSE_FORGET || request.header.opcode == FUSE_BATCH_FORGET) continue;
        struct {
            struct fuse_out_header header;
            char body[256];
        } reply = {.header = {.unique = request.header.unique}};
        reply.header.len = (uint32_t)(sizeof reply.header + answer(&request.header, &reply.header, reply.body));
        if (write(device, &reply, reply.header.len) < 0 && errno == ENODEV) return;
    }
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

/// The best of some rounds.
static double measure(const char *folder) {
    struct stat status;
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int request = 0; request < REQUESTS; request++) check(stat(folder, &status), "stat");
        double each = (now() - start) / REQUESTS;
        if (each < best) best = each;
    }
    return best;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: roundtrip DAEMONS_PROCESSOR PROGRAMS_PROCESSOR\n");
        return 2;
    }
    char folder[] = "/tmp/roundtrip.XXXXXX", options[128];
    if (!mkdtemp(folder)) check(-1, folder);
    int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    check(device, "/dev/fuse");
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", device);
    check(mount("roundtrip", folder, "fuse.roundtrip", 0, options), "mount");
    pid_t daemon = fork();
    check(daemon, "fork");
    if (daemon == 0) {
        bind_to(atoi(argv[1]));
        serve(device);
        _exit(0);
    }
    close(device);
    bind_to(atoi(argv[2]));
    printf("%.1f\n", measure(folder));
    check(umount2(folder, MNT_DETACH), "umount");
    waitpid(daemon, NULL, 0);
    rmdir(folder);
    return 0;
}
