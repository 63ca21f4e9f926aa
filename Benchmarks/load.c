// The metadata loads of Benchmarks/run, and what Benchmarks/scale asks of the kernel. Each prints the seconds it took.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static double started;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void check(int result, const char *what) {
    if (result >= 0) return;
    fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
    exit(1);
}

static const char *path(const char *folder, const char *kind, int number) {
    static char text[2][8192];
    static int turn;
    turn = !turn;
    snprintf(text[turn], sizeof text[turn], "%s/%s%06d", folder, kind, number);
    return text[turn];
}

/// Files of 4 KiB: create, write, close.
static void create(const char *folder, int count) {
    static char block[4096];
    for (int number = 0; number < count; number++) {
        int file = open(path(folder, "file", number), O_WRONLY | O_CREAT | O_EXCL, 0644);
        check(file, "create");
        memcpy(block, &number, sizeof number);
        check((int)write(file, block, sizeof block), "write");
        check(close(file), "close");
    }
}

static void stat_all(const char *folder, int count, int rounds) {
    struct stat status;
    for (int round = 0; round < rounds; round++)
        for (int number = 0; number < count; number++) check(stat(path(folder, "file", number), &status), "stat");
}

/// Renames each file and removes it.
static void rename_unlink(const char *folder, int count) {
    for (int number = 0; number < count; number++) {
        const char *new = path(folder, "other", number);
        check(rename(path(folder, "file", number), new), "rename");
        check(unlink(new), "unlink");
    }
}

/// A tree of folders of 100 empty files each.
static void tree(const char *folder, int count) {
    const char *below = folder;
    static char text[4096];
    for (int number = 0; number < count; number++) {
        if (number % 100 == 0) {
            snprintf(text, sizeof text, "%s/folder%05d", folder, number / 100);
            check(mkdir(text, 0755), "mkdir");
            below = text;
        }
        int file = open(path(below, "file", number), O_WRONLY | O_CREAT | O_EXCL, 0644);
        check(file, "create");
        check((int)write(file, &number, sizeof number), "write");
        check(close(file), "close");
    }
}

/// Opens that many files of a tree at once, from the first named on, and holds them until its input ends.
static void hold(const char *folder, int count, int first) {
    static char text[4096];
    for (int number = first; number < first + count; number++) {
        snprintf(text, sizeof text, "%s/folder%05d/file%06d", folder, number / 100, number);
        check(open(text, O_RDWR), text);
    }
    printf("%.6f\n", now() - started);
    fflush(stdout);
    while (getchar() != EOF) {}
    exit(0);
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: load create|stat|rename-unlink|tree|hold FOLDER COUNT [ROUNDS|FIRST]\n");
        return 2;
    }
    const char *what = argv[1], *folder = argv[2];
    int count = atoi(argv[3]);
    started = now();
    if (!strcmp(what, "create")) create(folder, count);
    else if (!strcmp(what, "stat")) stat_all(folder, count, argc > 4 ? atoi(argv[4]) : 1);
    else if (!strcmp(what, "rename-unlink")) rename_unlink(folder, count);
    else if (!strcmp(what, "tree")) tree(folder, count);
    else if (!strcmp(what, "hold")) hold(folder, count, argc > 4 ? atoi(argv[4]) : 0);
    else return 2;
    printf("%.6f\n", now() - started);
    return 0;
}
