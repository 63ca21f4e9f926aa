// The loads of Benchmarks/user: many files of one size. Each prints the seconds it took.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 256 << 10 };
static char buffer[BUFFER];

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void check(long result, const char *what) {
    if (result >= 0) return;
    fprintf(stderr, "sizes: %s: %s\n", what, strerror(errno));
    exit(1);
}

/// As cp(1) and tar(1) do.
static void create(const char *path, long size) {
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    check(file, path);
    for (long left = size; left > 0;) {
        long done = write(file, buffer, left < BUFFER ? (size_t)left : BUFFER);
        check(done, path);
        left -= done;
    }
    check(close(file), path);
}

/// As cat(1) and grep(1) do.
static void read_whole(const char *path) {
    int file = open(path, O_RDONLY);
    check(file, path);
    long done;
    while ((done = read(file, buffer, BUFFER)) > 0) {}
    check(done, path);
    check(close(file), path);
}

/// What the kernel keeps of it in the page cache of the filesystem that it was opened on.
static void forget(const char *path) {
    int file = open(path, O_RDONLY);
    check(file, path);
    check(-posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED), path);
    check(close(file), path);
}

int main(int argc, char **argv) {
    static char path[8192];
    if (argc != 5) {
        fprintf(stderr, "usage: sizes create|read|forget FOLDER COUNT SIZE\n");
        return 2;
    }
    long count = atol(argv[3]), size = atol(argv[4]);
    memset(buffer, 'x', sizeof buffer);
    double start = now();
    for (long number = 0; number < count; number++) {
        snprintf(path, sizeof path, "%s/file%06ld", argv[2], number);
        if (!strcmp(argv[1], "create")) create(path, size);
        else if (!strcmp(argv[1], "forget")) forget(path);
        else read_whole(path);
    }
    printf("%.6f\n", now() - start);
    return 0;
}
