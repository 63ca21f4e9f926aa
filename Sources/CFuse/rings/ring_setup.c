#define _GNU_SOURCE
#include "ring_setup.h"
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

// liburing maps the ring's file. Such a mapping lives as long as any thread of the process, and keeps the ring, its
// commands and with them the connection. If the daemon is killed while one of its threads waits for the mount, that
// thread could never end; therefore the kernel uses memory of ours (IORING_SETUP_NO_MMAP, Linux 6.5) and the ring ends
// with its descriptor.

#ifndef IORING_SETUP_NO_MMAP
#define IORING_SETUP_NO_MMAP (1U << 14)
#endif

/// The two rings take less than a page, the submission entries 128 bytes each.
enum { RINGS_SIZE = 8192, MEMORY_SIZE = RINGS_SIZE + RING_SUBMISSIONS * 128 };

/// `user_addr` in both, which older headers call `resv2`.
static void set_address(void *offsets, const void *address) {
    uint64_t value = (uintptr_t)address;
    memcpy((char *)offsets + offsetof(struct io_sqring_offsets, resv1) + sizeof(uint32_t), &value, sizeof value);
}

static void find_submissions(struct io_uring_sq *sq, char *rings, const struct io_sqring_offsets *at) {
    sq->khead = (unsigned *)(rings + at->head);
    sq->ktail = (unsigned *)(rings + at->tail);
    sq->kring_mask = (unsigned *)(rings + at->ring_mask);
    sq->kring_entries = (unsigned *)(rings + at->ring_entries);
    sq->kflags = (unsigned *)(rings + at->flags);
    sq->kdropped = (unsigned *)(rings + at->dropped);
    sq->array = (unsigned *)(rings + at->array);
    sq->ring_mask = *sq->kring_mask;
    sq->ring_entries = *sq->kring_entries;
    for (unsigned index = 0; index < sq->ring_entries; index++) sq->array[index] = index;
}

static void find_completions(struct io_uring_cq *cq, char *rings, const struct io_cqring_offsets *at) {
    cq->khead = (unsigned *)(rings + at->head);
    cq->ktail = (unsigned *)(rings + at->tail);
    cq->kring_mask = (unsigned *)(rings + at->ring_mask);
    cq->kring_entries = (unsigned *)(rings + at->ring_entries);
    cq->koverflow = (unsigned *)(rings + at->overflow);
    cq->kflags = (unsigned *)(rings + at->flags);
    cq->cqes = (struct io_uring_cqe *)(rings + at->cqes);
    cq->ring_mask = *cq->kring_mask;
    cq->ring_entries = *cq->kring_entries;
}

int ring_set_up(struct io_uring *io) {
    *io = (struct io_uring){.ring_fd = -1};
    char *memory = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) return errno;
    // No IORING_SETUP_DEFER_TASKRUN: if the thread is killed, completions that the kernel is about to deliver would
    // wait for ever.
    struct io_uring_params parameters = {
        .flags = IORING_SETUP_SQE128 | IORING_SETUP_COOP_TASKRUN | IORING_SETUP_NO_MMAP};
    set_address(&parameters.cq_off, memory);
    set_address(&parameters.sq_off, memory + RINGS_SIZE);
    int fd = (int)syscall(SYS_io_uring_setup, RING_SUBMISSIONS, &parameters);
    if (fd < 0) {
        int error = errno;
        munmap(memory, MEMORY_SIZE);
        return error;
    }
    find_submissions(&io->sq, memory, &parameters.sq_off);
    find_completions(&io->cq, memory, &parameters.cq_off);
    io->sq.ring_ptr = io->cq.ring_ptr = memory;
    io->sq.sqes = (struct io_uring_sqe *)(memory + RINGS_SIZE);
    io->flags = parameters.flags;
    io->features = parameters.features;
    io->ring_fd = io->enter_ring_fd = fd;
    return 0;
}

void ring_tear_down(struct io_uring *io) {
    close(io->ring_fd);
    munmap(io->sq.ring_ptr, MEMORY_SIZE);
}
