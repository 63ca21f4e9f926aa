// Registers files with the kernel for FUSE passthrough on behalf of an unprivileged user: the kernel requires
// CAP_SYS_ADMIN for that one ioctl(2). Installed with that capability, or set-user-ID root; started by a daemon, with a
// socket as its standard input, and ends with the daemon. The threat model is in SECURITY.md.
#define _GNU_SOURCE
#include "registering.h"
#include "registrar.h"
#include "wire.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CHANNEL = 0 };

static struct {
    int device;
    /// The number of registered files, and its limit: the user's limit of open files.
    rlim_t count, limit;
} session = {.device = -1};

/// The kernel's answer to a call on the device, or -errno.
static int ask_kernel(unsigned long call, void *argument) {
    int result = ioctl(session.device, call, argument);
    return result < 0 ? -errno : result;
}

static int begin(int device) {
    if (session.device >= 0) return -EBUSY;
    int error = check_session(device);
    // Duplicated, because received descriptors are closed after each request.
    if (error == 0 && (session.device = fcntl(device, F_DUPFD_CLOEXEC, 3)) < 0) error = -errno;
    return error;
}

static int open_backing(int file) {
    if (session.device < 0) return -EINVAL;
    if (session.count >= session.limit) return -EMFILE;
    int error = check_file(file);
    if (error != 0) return error;
    struct wire_backing_map map = {.fd = file};
    int id = ask_kernel(WIRE_BACKING_OPEN, &map);
    if (id > 0) session.count++;
    return id;
}

static void close_backing(int32_t id) {
    uint32_t number = (uint32_t)id;
    if (session.device >= 0 && ask_kernel(WIRE_BACKING_CLOSE, &number) == 0 && session.count > 0) session.count--;
}

/// The next request and its descriptor, or -1. False at the end, or if the caller violates the protocol.
static bool receive(struct registrar_request *request, int *descriptor) {
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec data = {.iov_base = request, .iov_len = sizeof *request};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t size;
    do size = recvmsg(CHANNEL, &message, MSG_CMSG_CLOEXEC);
    while (size < 0 && errno == EINTR);
    *descriptor = -1;
    if (size != sizeof *request || message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) return false;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header) return true;
    // There is space for two.
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS ||
        header->cmsg_len != CMSG_LEN(sizeof(int)))
        return false;
    memcpy(descriptor, CMSG_DATA(header), sizeof *descriptor);
    return true;
}

static bool answer(int result) {
    struct registrar_answer answer = {.result = result};
    ssize_t size;
    do size = send(CHANNEL, &answer, sizeof answer, MSG_NOSIGNAL);
    while (size < 0 && errno == EINTR);
    return size == sizeof answer;
}

/// False if the caller violates the protocol or is gone.
static bool serve(const struct registrar_request *request, int descriptor) {
    switch (request->call) {
    case REGISTRAR_SESSION: return descriptor >= 0 && answer(begin(descriptor));
    case REGISTRAR_OPEN: return descriptor >= 0 && answer(open_backing(descriptor));
    case REGISTRAR_CLOSE: return descriptor < 0 && (close_backing(request->id), true);
    default: return false;
    }
}

int main(void) {
    struct rlimit files;
    if (!has_caller(CHANNEL) || !become_caller() || getrlimit(RLIMIT_NOFILE, &files) != 0) return 1;
    session.limit = files.rlim_max;
    struct registrar_request request;
    int descriptor;
    while (receive(&request, &descriptor)) {
        bool goes_on = serve(&request, descriptor);
        if (descriptor >= 0) close(descriptor);
        if (!goes_on) return 1;
    }
    return 0;
}
