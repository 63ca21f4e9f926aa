#define _GNU_SOURCE
#include "registrar.h"
#include "CFuse.h"
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static bool send_request(int channel, struct registrar_request request, int descriptor) {
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec data = {.iov_base = &request, .iov_len = sizeof request};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    if (descriptor >= 0) {
        control.header = (struct cmsghdr){
            .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&control.header), &descriptor, sizeof descriptor);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    ssize_t size;
    do size = sendmsg(channel, &message, MSG_NOSIGNAL);
    while (size < 0 && errno == EINTR);
    return size == sizeof request;
}

static int ask(int channel, struct registrar_request request, int descriptor) {
    struct registrar_answer answer;
    if (!send_request(channel, request, descriptor)) return -ENOTCONN;
    ssize_t size;
    do size = recv(channel, &answer, sizeof answer, 0);
    while (size < 0 && errno == EINTR);
    return size == sizeof answer ? answer.result : -ENOTCONN;
}

static int spawn_registrar(const char *program, int channel, pid_t *child) {
    char *const arguments[] = {(char *)program, NULL}, *const environment[] = {NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, channel, 0);
    // The thread that registers the first file may block all signals.
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int error = posix_spawn(child, program, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

int cfuse_registrar_start(struct cfuse_registrar *registrar, const char *program, struct fuse_session *session) {
    // Registering a file takes microseconds. If it takes seconds, the program was stopped, or waits for a disk that
    // hangs.
    struct timeval timeout = {.tv_sec = 2};
    int channel[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) != 0) return -errno;
    setsockopt(channel[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    setsockopt(channel[0], SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    *registrar = (struct cfuse_registrar){.channel = channel[0]};
    int error = spawn_registrar(program, channel[1], &registrar->child);
    close(channel[1]);
    if (error != 0) {
        close(channel[0]);
        return -error;
    }
    int result = ask(channel[0], (struct registrar_request){.call = REGISTRAR_SESSION}, fuse_session_fd(session));
    if (result != 0) cfuse_registrar_end(registrar);
    return result;
}

int cfuse_registrar_open(const struct cfuse_registrar *registrar, int fd) {
    return ask(registrar->channel, (struct registrar_request){.call = REGISTRAR_OPEN}, fd);
}

bool cfuse_registrar_close(const struct cfuse_registrar *registrar, int32_t id) {
    return send_request(registrar->channel, (struct registrar_request){.call = REGISTRAR_CLOSE, .id = id}, -1);
}

void cfuse_registrar_end(const struct cfuse_registrar *registrar) {
    close(registrar->channel);
    // Its real user is ours. It may have been stopped.
    kill(registrar->child, SIGKILL);
    while (waitpid(registrar->child, NULL, 0) < 0 && errno == EINTR) {}
}
