/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A connection's two ends. */
#ifndef STAPGEN_ENDS_H
#define STAPGEN_ENDS_H

#include "read.h"

/* Addresses and ports of a connected socket. */
struct stapgen_ends {
    const void *local, *remote;
    int is_ip4;
    u16 local_port, remote_port;
};

/* Before 3.13 they are elsewhere: stapgen_socket_address.stp. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(3, 13, 0)
static inline void stapgen_read_ends(const struct sock* sk, struct stapgen_ends* ends, const void** fault) {
    const struct sock_common* common = &sk->__sk_common;
    ends->is_ip4 = STAPGEN_READ(&common->skc_family, fault) == AF_INET;
    ends->local = &common->skc_rcv_saddr;
    ends->remote = &common->skc_daddr;
#if IS_ENABLED(CONFIG_IPV6)
    if (!ends->is_ip4) {
        ends->local = &common->skc_v6_rcv_saddr;
        ends->remote = &common->skc_v6_daddr;
    }
#endif
    ends->local_port = STAPGEN_READ(&common->skc_num, fault);
    ends->remote_port = ntohs(STAPGEN_READ(&common->skc_dport, fault));
}
#endif

/* Source or destination of a packet of TCP or UDP, whose skb can be read: what its local end is. */
static inline void stapgen_read_packet_ends(const struct sk_buff* skb, int is_received, struct stapgen_ends* ends,
                                            const void** fault) {
    const unsigned char* ip = stapgen_network_header_of(skb);
    const __be16* ports = (const __be16*)stapgen_transport_header_of(skb);
    const unsigned char *source, *destination;
    u16 source_port = ntohs(STAPGEN_READ(ports, fault)), destination_port = ntohs(STAPGEN_READ(ports + 1, fault));
    ends->is_ip4 = (STAPGEN_READ(ip, fault) & 0xf0) == 0x40;
    source = ip + (ends->is_ip4 ? 12 : 8);
    destination = ip + (ends->is_ip4 ? 16 : 24);
    ends->local = is_received ? destination : source;
    ends->remote = is_received ? source : destination;
    ends->local_port = is_received ? destination_port : source_port;
    ends->remote_port = is_received ? source_port : destination_port;
}

#endif
