/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Received packets of sockets that are not wanted. */
#ifndef STAPGEN_RX_OWNER_H
#define STAPGEN_RX_OWNER_H

#include "owner_filter.h"
#include "rx_packet.h"

/* At its socket: whether that is not a wanted one. Then a packet that is followed is counted and forgotten. */
static inline int stapgen_rx_at_unwanted(const struct sock* sk, const struct sk_buff* skb, int is_tcp,
                                         const void** fault) {
    if (stapgen_is_wanted_sock(sk)) return 0;
    stapgen_rx_end_at_socket(skb, is_tcp, STAPGEN_COUNT_rx_unwanted, fault);
    return 1;
}

#endif
