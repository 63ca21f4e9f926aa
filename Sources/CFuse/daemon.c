#define _GNU_SOURCE
#include "CFuse.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool write_all(int fd, const void *bytes, size_t size) {
    const char *next = bytes;
    while (size > 0) {
        ssize_t written = write(fd, next, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        next += written;
        size -= (size_t)written;
    }
    return true;
}

/// The first byte is the exit status, the rest a text. No byte: the child died before it could say anything.
static void wait_for_report(int fd, int failure) {
    unsigned char status;
    ssize_t got;
    while ((got = read(fd, &status, 1)) < 0 && errno == EINTR) {}
    if (got != 1) {
        static const char text[] = "the daemon ended before it was ready\n";
        write_all(STDERR_FILENO, text, sizeof text - 1);
        _exit(failure);
    }
    char text[512];
    while ((got = read(fd, text, sizeof text)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0) write_all(STDERR_FILENO, text, (size_t)got);
    _exit(status);
}

int cfuse_daemon_fork(int failure) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
    pid_t child = fork();
    if (child < 0) {
        int error = errno;
        close(ends[0]);
        close(ends[1]);
        return -error;
    }
    if (child > 0) {
        close(ends[1]);
        wait_for_report(ends[0], failure);
    }
    close(ends[0]);
    setsid();
    return ends[1];
}

void cfuse_daemon_report(int fd, int status, const char *text, size_t length) {
    unsigned char byte = (unsigned char)status;
    if (write_all(fd, &byte, 1)) write_all(fd, text, length);
    close(fd);
}

void cfuse_daemon_detach(void) {
    if (chdir("/") != 0) return;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) return;
    for (int fd = 0; fd <= 2; fd++) dup2(null, fd);
    if (null > 2) close(null);
}
