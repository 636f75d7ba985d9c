// SPDX-License-Identifier: GPL-2.0-or-later
// Every way in which a thread waits for its sockets.
#pragma once

#include <sys/types.h>

#include "ring.h"
#include "traffic.h"

enum wait_how { EPOLL_WAIT, EPOLL_PWAIT, EPOLL_PWAIT2, POLL, SELECT, WAIT_NONE, WAIT_IO_URING };
extern const char* const wait_hows[];

enum { MAX_SOCKETS = 1000 };  // select() ends at descriptor 1023

struct waited {
    int fd;
    // With buffer set, WAIT_IO_URING receives instead of polling; the result is in received.
    char* buffer;
    size_t room;
    ssize_t received;
    bool armed;
};

struct waiter {
    enum wait_how how;
    int epoll;
    struct ring ring;
    size_t count;
    struct waited* members[MAX_SOCKETS];
};

void waiter_open(struct waiter* waiter, enum wait_how how);
void waiter_close(struct waiter* waiter);
void waiter_add(struct waiter* waiter, struct waited* member);
void waiter_remove(struct waiter* waiter, const struct waited* member);
// Waits for at least one member, and stores those that are ready.
size_t waiter_wait(struct waiter* waiter, struct waited* ready[MAX_SOCKETS]);
