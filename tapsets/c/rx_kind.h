/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Received packets of kinds that are not followed to a reader. They are counted by the kind's name. What comes to a
 * program's socket that unwraps (UDP_ENCAP) is unwrapped until a thread reads it: encap_rcv() had passed it on. */
#ifndef STAPGEN_RX_KIND_H
#define STAPGEN_RX_KIND_H

#include <linux/udp.h>

#include "rx_packet.h"
#include "socket_kind.h"

/* Whether what this CPU works on may be unwrapped, and is to be counted as that until it is read. */
STAPGEN_PER_CPU(int, stapgen_rx_may_be_unwrapped);

/* A program has it: no thread reads the kernel's own. */
static inline int stapgen_has_file(const struct sock* sk, const void** fault) {
    const struct socket* socket = STAPGEN_READ(&sk->sk_socket, fault);
    return socket && STAPGEN_READ(&socket->file, fault) != NULL;
}
/* The kind, by its counter; -1: it is none of these. */
static inline int stapgen_rx_kind(const struct sock* sk, int is_tcp, const void** fault) {
    enum { STAPGEN_LISTEN = 10 };
    if (!is_tcp) {
        const int unwraps = STAPGEN_READ(&udp_sk(sk)->encap_type, fault) != 0;
        *STAPGEN_THIS_CPU(stapgen_rx_may_be_unwrapped) = unwraps;
        return unwraps && !stapgen_has_file(sk, fault) ? STAPGEN_COUNT_rx_encapsulated : -1;
    }
    if (STAPGEN_READ((const u8*)&sk->__sk_common.skc_state, fault) == STAPGEN_LISTEN) return STAPGEN_COUNT_rx_fast_open;
    return stapgen_is_mptcp(sk, fault) ? STAPGEN_COUNT_rx_mptcp : -1;
}
/* At its socket: whether it is of such a kind. Then it is counted, if it was followed, and forgotten. */
static inline int stapgen_rx_is_other_kind(const struct sock* sk, const struct sk_buff* skb, int is_tcp,
                                           const void** fault) {
    const int kind = stapgen_rx_kind(sk, is_tcp, fault);
    if (kind < 0 || *fault) return 0;
    stapgen_rx_end_at_socket(skb, is_tcp, kind, fault);
    return 1;
}

#endif
