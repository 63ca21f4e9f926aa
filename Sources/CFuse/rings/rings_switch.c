#include "rings_switch.h"
#include "../wire.h"
#include "ring_setup.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool rings_are_allowed(void) {
    int file = open("/sys/module/fuse/parameters/enable_uring", O_RDONLY | O_CLOEXEC);
    if (file < 0) return true;
    char value = 'Y';
    ssize_t got = read(file, &value, 1);
    close(file);
    return got != 1 || value == 'Y' || value == '1';
}

void rings_renounce(int device) {
    struct io_uring io;
    if (ring_set_up(&io) != 0) return;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&io);
    io_uring_prep_rw(IORING_OP_URING_CMD, sqe, device, NULL, 0, 0);
    sqe->cmd_op = WIRE_RING_REGISTER;
    // After an entry that it can't accept (no processor has this queue), the kernel no longer waits for rings.
    struct wire_ring_command command = {.queue = UINT16_MAX};
    memcpy(sqe->cmd, &command, sizeof command);
    while (io_uring_submit_and_wait(&io, 1) == -EINTR) {}
    ring_tear_down(&io);
}
