// SPDX-License-Identifier: GPL-2.0-or-later
// io_uring by raw system calls, for one thread.
#pragma once

#include <linux/io_uring.h>
#include <stdint.h>

struct ring {
    int fd;
    unsigned sq_size, cq_size;  // bytes mapped
    void *sq, *cq;
    struct io_uring_sqe* entries;
    struct io_uring_params layout;
    unsigned queued;
};

// Ends the program with exit code 77 where the kernel does not permit io_uring.
void ring_open(struct ring* ring);
void ring_close(struct ring* ring);
// The entry's user_data comes back from ring_wait.
void ring_queue(struct ring* ring, const struct io_uring_sqe* entry);
// Submits what is queued and waits for one completion; returns the call's result, or -errno.
int ring_wait(struct ring* ring, uint64_t* user_data);
