// SPDX-License-Identifier: GPL-2.0-or-later
#include "calls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include "ring.h"

const char* const read_calls[] = {[READ] = "read",
                                  [READV] = "readv",
                                  [RECV] = "recv",
                                  [RECVFROM] = "recvfrom",
                                  [RECVMSG] = "recvmsg",
                                  [RECVMMSG] = "recvmmsg",
                                  [READ_IO_URING] = "io_uring",
                                  [PEEK] = "peek",
                                  [READ_SPLICE] = "splice",
                                  NULL};
const char* const write_calls[] = {[WRITE] = "write",
                                   [WRITEV] = "writev",
                                   [SEND] = "send",
                                   [SENDTO] = "sendto",
                                   [SENDMSG] = "sendmsg",
                                   [SENDMMSG] = "sendmmsg",
                                   [SENDFILE] = "sendfile",
                                   [WRITE_IO_URING] = "io_uring",
                                   [MORE] = "more",
                                   [VMSPLICE] = "vmsplice",
                                   [ZEROCOPY] = "zerocopy",
                                   [SEND_ZC_IO_URING] = "send_zc",
                                   NULL};

static _Thread_local struct ring ring;
static _Thread_local bool ring_is_open;

static ssize_t by_ring(struct io_uring_sqe entry) {
    if (!ring_is_open) ring_open(&ring);
    ring_is_open = true;
    ring_queue(&ring, &entry);
    uint64_t unused;
    int result = ring_wait(&ring, &unused);
    // That the bytes are not needed any more is told apart.
    if (entry.opcode == IORING_OP_SEND_ZC && result >= 0) ring_wait(&ring, &unused);
    if (result >= 0) return result;
    errno = -result;
    return -1;
}

// A pipe of this thread.
static int* pipe_ends(void) {
    static _Thread_local int ends[2];
    if (!ends[1] && pipe2(ends, O_CLOEXEC)) die("pipe: %m");
    return ends;
}

void calls_done(void) {
    if (ring_is_open) ring_close(&ring);
    ring_is_open = false;
}

static ssize_t receive_by(enum read_call call, int fd, void* buffer, size_t size) {
    union address from;
    socklen_t length = sizeof from;
    struct iovec piece = {buffer, size};
    struct mmsghdr one = {
        .msg_hdr = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = &piece, .msg_iovlen = 1}};
    int messages;
    switch (call) {
        case READ:
            return read(fd, buffer, size);
        case READV:
            return readv(fd, &piece, 1);
        case RECV:
            return recv(fd, buffer, size, 0);
        case RECVFROM:
            return recvfrom(fd, buffer, size, 0, &from.any, &length);
        case RECVMSG:
            return recvmsg(fd, &one.msg_hdr, 0);
        case RECVMMSG:
            messages = recvmmsg(fd, &one, 1, 0, NULL);
            return messages == 1 ? (ssize_t)one.msg_len : messages;
        case READ_IO_URING:
            return by_ring((struct io_uring_sqe){
                .opcode = IORING_OP_RECV, .fd = fd, .addr = (uintptr_t)buffer, .len = (unsigned)size});
        case PEEK:
            if (recv(fd, buffer, size, MSG_PEEK) < 0) return -1;
            return recv(fd, buffer, size, 0);
        case READ_SPLICE: {
            ssize_t moved = splice(fd, NULL, pipe_ends()[1], NULL, size, 0);
            return moved > 0 ? read(pipe_ends()[0], buffer, (size_t)moved) : moved;
        }
    }
    die("no call %d", call);
}

size_t receive(enum read_call call, int fd, void* buffer, size_t size) {
    ssize_t got;
    RETRY(got, receive_by(call, fd, buffer, size));
    if (got < 0) die("%s: %m", read_calls[call]);
    return (size_t)got;
}

// A file for each call: the pages stay in the socket until they are read, and must not change meanwhile.
static ssize_t by_sendfile(int fd, const void* data, size_t size) {
    int file = memfd_create("reply", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t)size) die("memfd: %m");
    off_t offset = 0;
    ssize_t sent = sendfile(fd, file, &offset, size);
    int error = errno;
    close(file);
    errno = error;
    return sent;
}

// The pages of DATA go into the pipe and on into the socket.
static ssize_t by_vmsplice(int fd, const struct iovec* piece) {
    ssize_t moved = vmsplice(pipe_ends()[1], piece, 1, 0);
    return moved > 0 ? splice(pipe_ends()[0], NULL, fd, NULL, (size_t)moved, 0) : moved;
}
// Until the kernel says that it does not need the bytes any more.
static ssize_t by_zerocopy(int fd, const void* data, size_t size, const union address* to, socklen_t length) {
    char control[128];
    struct msghdr done = {.msg_control = control, .msg_controllen = sizeof control};
    struct pollfd error = {.fd = fd};
    ssize_t got, sent = sendto(fd, data, size, MSG_ZEROCOPY, to ? &to->any : NULL, length);
    while (sent >= 0 && (got = recvmsg(fd, &done, MSG_ERRQUEUE)) < 0) {
        if (errno != EAGAIN) die("MSG_ERRQUEUE: %m");
        poll(&error, 1, -1);
    }
    return sent;
}

static ssize_t transmit_by(enum write_call call, int fd, const void* data, size_t size, const union address* to) {
    union address target;
    socklen_t length = to ? address_length(to) : 0;
    if (to) target = *to;
    struct iovec piece = {(void*)data, size};
    struct mmsghdr one = {
        .msg_hdr = {.msg_name = to ? &target : NULL, .msg_namelen = length, .msg_iov = &piece, .msg_iovlen = 1}};
    int messages;
    switch (call) {
        case WRITE:
            return write(fd, data, size);
        case WRITEV:
            return writev(fd, &piece, 1);
        case SEND:
            return send(fd, data, size, 0);
        case SENDTO:
            return sendto(fd, data, size, 0, to ? &target.any : NULL, length);
        case SENDMSG:
            return sendmsg(fd, &one.msg_hdr, 0);
        case SENDMMSG:
            messages = sendmmsg(fd, &one, 1, 0);
            return messages == 1 ? (ssize_t)one.msg_len : messages;
        case SENDFILE:
            return by_sendfile(fd, data, size);
        case WRITE_IO_URING:
            // MSG_WAITALL: io_uring may otherwise end a send early when the buffer is full.
            if (to)
                return by_ring((struct io_uring_sqe){.opcode = IORING_OP_SENDMSG,
                                                     .fd = fd,
                                                     .addr = (uintptr_t)&one.msg_hdr,
                                                     .len = 1,
                                                     .msg_flags = MSG_WAITALL});
            return by_ring((struct io_uring_sqe){.opcode = IORING_OP_SEND,
                                                 .fd = fd,
                                                 .addr = (uintptr_t)data,
                                                 .len = (unsigned)size,
                                                 .msg_flags = MSG_WAITALL});
        case MORE:
            if (send(fd, data, size / 2, MSG_MORE) != (ssize_t)(size / 2)) return -1;
            return send(fd, (const char*)data + size / 2, size - size / 2, 0) + (ssize_t)(size / 2);
        case VMSPLICE:
            return by_vmsplice(fd, &piece);
        case ZEROCOPY:
            return by_zerocopy(fd, data, size, to, length);
        case SEND_ZC_IO_URING:
            return by_ring((struct io_uring_sqe){.opcode = IORING_OP_SEND_ZC,
                                                 .fd = fd,
                                                 .addr = (uintptr_t)data,
                                                 .len = (unsigned)size,
                                                 .msg_flags = MSG_WAITALL});
    }
    die("no call %d", call);
}

void transmit(enum write_call call, int fd, const void* data, size_t size, const union address* to) {
    ssize_t sent;
    RETRY(sent, transmit_by(call, fd, data, size, to));
    if (sent < 0) die("%s: %m", write_calls[call]);
    if ((size_t)sent != size) die("%s took %zd of %zu bytes", write_calls[call], sent, size);
}

bool takes_address(enum write_call call) {
    return call == SENDTO || call == SENDMSG || call == SENDMMSG || call == WRITE_IO_URING;
}
