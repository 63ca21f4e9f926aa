#define _GNU_SOURCE
#include "registering.h"
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>

bool has_caller(int channel) {
    int type = 0;
    struct ucred peer = {.uid = (uid_t)-1};
    socklen_t size = sizeof type;
    if (getsockopt(channel, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_SEQPACKET) return false;
    size = sizeof peer;
    return getsockopt(channel, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == getuid();
}
