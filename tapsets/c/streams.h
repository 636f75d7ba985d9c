/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the data of a connection begins. */
#ifndef STAPGEN_STREAMS_H
#define STAPGEN_STREAMS_H

#include <net/tcp.h>

#include "which_end.h"

/* The first sequence numbers of a connection's data: what a request's position is counted from. */
struct stapgen_streams {
    u32 sent, received;
    int is_known;
};
/* bytes_acked counts the SYN of the end that connects: net/ipv4/tcp_input.c, tcp_rcv_synsent_state_process(). */
static inline struct stapgen_streams stapgen_streams_of(const struct sock* sk, enum stapgen_end end,
                                                        const void** fault) {
    struct stapgen_streams streams = {0, 0, 0};
#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 1, 0)
    const struct tcp_sock* tcp = tcp_sk(sk);
    streams.sent =
        STAPGEN_READ(&tcp->snd_una, fault) - (u32)STAPGEN_READ(&tcp->bytes_acked, fault) + (end == STAPGEN_CLIENT);
    streams.received = STAPGEN_READ(&tcp->rcv_nxt, fault) - (u32)STAPGEN_READ(&tcp->bytes_received, fault);
    streams.is_known = 1;
#endif
    return streams;
}

#endif
