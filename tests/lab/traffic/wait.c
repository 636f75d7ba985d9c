// SPDX-License-Identifier: GPL-2.0-or-later
#include "wait.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

const char* const wait_hows[] = {
    [EPOLL_WAIT] = "epoll_wait", [EPOLL_PWAIT] = "epoll_pwait", [EPOLL_PWAIT2] = "epoll_pwait2", [POLL] = "poll",
    [SELECT] = "select",         [WAIT_NONE] = "none",          [WAIT_IO_URING] = "io_uring",    NULL};

static bool by_epoll(const struct waiter* waiter) {
    return waiter->how <= EPOLL_PWAIT2;
}

void waiter_open(struct waiter* waiter, enum wait_how how) {
    waiter->how = how;
    waiter->count = 0;
    if (by_epoll(waiter) && (waiter->epoll = epoll_create1(EPOLL_CLOEXEC)) < 0) die("epoll_create1: %m");
    if (how == WAIT_IO_URING) ring_open(&waiter->ring);
}

void waiter_close(struct waiter* waiter) {
    if (by_epoll(waiter)) close(waiter->epoll);
    if (waiter->how == WAIT_IO_URING) ring_close(&waiter->ring);
}

void waiter_add(struct waiter* waiter, struct waited* member) {
    if (waiter->count == MAX_SOCKETS || member->fd >= FD_SETSIZE) die("more than %d sockets", MAX_SOCKETS);
    waiter->members[waiter->count++] = member;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = member};
    if (by_epoll(waiter) && epoll_ctl(waiter->epoll, EPOLL_CTL_ADD, member->fd, &event)) die("epoll_ctl: %m");
}

void waiter_remove(struct waiter* waiter, const struct waited* member) {
    for (size_t i = 0; i < waiter->count; i++) {
        if (waiter->members[i] != member) continue;
        waiter->members[i] = waiter->members[--waiter->count];
        if (by_epoll(waiter) && epoll_ctl(waiter->epoll, EPOLL_CTL_DEL, member->fd, NULL)) die("epoll_ctl: %m");
        return;
    }
    die("socket %d is not waited for", member->fd);
}

static size_t wait_epoll(const struct waiter* waiter, struct waited** ready) {
    struct epoll_event events[16];
    int most = sizeof events / sizeof *events, count;
    if (waiter->how == EPOLL_WAIT)
        RETRY(count, epoll_wait(waiter->epoll, events, most, -1));
    else if (waiter->how == EPOLL_PWAIT)
        RETRY(count, epoll_pwait(waiter->epoll, events, most, -1, NULL));
    else
        RETRY(count, epoll_pwait2(waiter->epoll, events, most, NULL, NULL));
    if (count < 1) die("%s: %m", wait_hows[waiter->how]);
    for (int i = 0; i < count; i++)
        ready[i] = events[i].data.ptr;
    return (size_t)count;
}

static size_t wait_poll(const struct waiter* waiter, struct waited** ready) {
    struct pollfd polled[MAX_SOCKETS];
    for (size_t i = 0; i < waiter->count; i++)
        polled[i] = (struct pollfd){.fd = waiter->members[i]->fd, .events = POLLIN};
    int result;
    RETRY(result, poll(polled, waiter->count, -1));
    if (result < 1) die("poll: %m");
    size_t count = 0;
    for (size_t i = 0; i < waiter->count; i++) {
        if (polled[i].revents) ready[count++] = waiter->members[i];
    }
    return count;
}

static size_t wait_select(const struct waiter* waiter, struct waited** ready) {
    fd_set set;
    int result;
    do {
        int most = 0;
        FD_ZERO(&set);
        for (size_t i = 0; i < waiter->count; i++) {
            int fd = waiter->members[i]->fd;
            FD_SET(fd, &set);
            if (fd > most) most = fd;
        }
        result = select(most + 1, &set, NULL, NULL, NULL);
    } while (result < 0 && errno == EINTR);
    if (result < 1) die("select: %m");
    size_t count = 0;
    for (size_t i = 0; i < waiter->count; i++) {
        if (FD_ISSET(waiter->members[i]->fd, &set)) ready[count++] = waiter->members[i];
    }
    return count;
}

static void arm(struct waiter* waiter, struct waited* member) {
    struct io_uring_sqe entry = {.fd = member->fd, .user_data = (uintptr_t)member};
    if (member->buffer) {
        entry.opcode = IORING_OP_RECV;
        entry.addr = (uintptr_t)member->buffer;
        entry.len = (unsigned)member->room;
    } else {
        entry.opcode = IORING_OP_POLL_ADD;
        entry.poll32_events = POLLIN;
    }
    ring_queue(&waiter->ring, &entry);
    member->armed = true;
}

static size_t wait_ring(struct waiter* waiter, struct waited** ready) {
    int result;
    struct waited* member;
    do {
        for (size_t i = 0; i < waiter->count; i++) {
            if (!waiter->members[i]->armed) arm(waiter, waiter->members[i]);
        }
        uint64_t user_data;
        result = ring_wait(&waiter->ring, &user_data);
        member = (struct waited*)(uintptr_t)user_data;
        member->armed = false;
    } while (result == -EINTR);
    if (result < 0) die("%s in io_uring: %s", member->buffer ? "recv" : "poll", strerror(-result));
    if (member->buffer) member->received = result;
    *ready = member;
    return 1;
}

size_t waiter_wait(struct waiter* waiter, struct waited* ready[MAX_SOCKETS]) {
    switch (waiter->how) {
        case POLL:
            return wait_poll(waiter, ready);
        case SELECT:
            return wait_select(waiter, ready);
        case WAIT_IO_URING:
            return wait_ring(waiter, ready);
        default:
            return wait_epoll(waiter, ready);
    }
}
