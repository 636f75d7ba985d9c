// SPDX-License-Identifier: GPL-2.0-or-later
// Every system call that an application may read from or write to a socket with.
#pragma once

#include "traffic.h"

enum read_call { READ, READV, RECV, RECVFROM, RECVMSG, RECVMMSG, READ_IO_URING, PEEK, READ_SPLICE };
enum write_call {
    WRITE,
    WRITEV,
    SEND,
    SENDTO,
    SENDMSG,
    SENDMMSG,
    SENDFILE,
    WRITE_IO_URING,
    MORE,      // in two calls
    VMSPLICE,  // through a pipe
    ZEROCOPY,  // SO_ZEROCOPY is set
    SEND_ZC_IO_URING,
};
extern const char *const read_calls[], *const write_calls[];

// One call, but for PEEK, which looks first; 0 is the stream's end.
size_t receive(enum read_call call, int fd, void* buffer, size_t size);
// One call that takes all, if not said otherwise; to is NULL for a connected socket.
void transmit(enum write_call call, int fd, const void* data, size_t size, const union address* to);
bool takes_address(enum write_call call);
// To be called at the end of a thread that has received or transmitted.
void calls_done(void);
