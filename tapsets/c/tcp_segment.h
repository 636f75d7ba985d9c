/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TCP's segments wherever they are dropped, and their connections: of a socket, or by addresses and ports. */
#ifndef STAPGEN_TCP_SEGMENT_H
#define STAPGEN_TCP_SEGMENT_H

#include <linux/in.h>

#include "freeing.h"
#include "packet_id.h"

/* ---- connections ---- */

static inline u64 stapgen_mix_address(u64 mixed, u64 part) {
    mixed = (mixed ^ part) * 0x9e3779b97f4a7c15ULL;
    return mixed ^ mixed >> 29;
}
/* From an address and a port (in network order) to others. Never 0. */
static inline unsigned long stapgen_connection(const u64* from, const u64* to, u16 from_port, u16 to_port) {
    u64 mixed = stapgen_mix_address((u64)from_port << 16 | to_port, from[0]);
    mixed = stapgen_mix_address(mixed, from[1]);
    mixed = stapgen_mix_address(mixed, to[0]);
    return (unsigned long)stapgen_mix_address(mixed, to[1]) | 1;
}
static inline void stapgen_ip4_address(u64* to, u32 address) {
    to[0] = 0;
    to[1] = address;
}
/* Of what a socket sends; a request has its addresses and ports in the same places. 1: not known. */
static inline unsigned long stapgen_connection_of_socket(const struct sock* sk, const void** fault) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(3, 13, 0)
    const struct sock_common* common = &sk->__sk_common;
    u64 from[2], to[2];
    if (!STAPGEN_IS_READABLE(common, fault)) return 1;
    stapgen_ip4_address(from, (__force u32)common->skc_rcv_saddr);
    stapgen_ip4_address(to, (__force u32)common->skc_daddr);
#if IS_ENABLED(CONFIG_IPV6)
    if (common->skc_family == AF_INET6 && !ipv6_addr_v4mapped(&common->skc_v6_daddr)) {
        memcpy(from, &common->skc_v6_rcv_saddr, sizeof(from));
        memcpy(to, &common->skc_v6_daddr, sizeof(to));
    }
#endif
    return stapgen_connection(from, to, (__force u16)htons(common->skc_num), (__force u16)common->skc_dport);
#else
    return 1;
#endif
}

/* ---- segments ---- */

enum { STAPGEN_FIN = 1, STAPGEN_SYN = 2, STAPGEN_RST = 4, STAPGEN_ACK = 16 };
struct stapgen_tcp_segment {
    const unsigned char* tcp; /* its header */
    u64 from[2], to[2];       /* not known where there is no IP header yet */
    u16 from_port, to_port;
    u8 flags;
    long data; /* bytes behind the header, and not of the link's padding */
};
/* Whether it is one of TCP's whose header can be read. */
static inline int stapgen_read_tcp_segment(const struct sk_buff* skb, struct stapgen_tcp_segment* segment,
                                           const void** fault) {
    const unsigned char *ip = stapgen_network_header_of(skb), *end = stapgen_linear_end(skb), *tcp;
    long behind = 0;
    /* TCP has written its header, and IP has found no way for it. */
    if (skb->sk && !stapgen_came_by(skb, fault) && skb->data == stapgen_transport_header_of(skb)) {
        tcp = skb->data;
    } else if (ip < skb->head || ip + 20 > end) {
        return 0;
    } else if ((STAPGEN_READ(ip, fault) & 0xf0) == 0x40) {
        tcp = ip + (STAPGEN_READ(ip, fault) & 0xf) * 4;
        if (STAPGEN_READ(ip + 9, fault) != IPPROTO_TCP || STAPGEN_READ((const u16*)(ip + 6), fault) & htons(0x1fff))
            return 0;
        stapgen_ip4_address(segment->from, STAPGEN_READ((const u32*)(ip + 12), fault));
        stapgen_ip4_address(segment->to, STAPGEN_READ((const u32*)(ip + 16), fault));
        behind = (long)ntohs(STAPGEN_READ((const __be16*)(ip + 2), fault)) - (tcp - ip);
    } else {
        tcp = ip + 40;
        if ((STAPGEN_READ(ip, fault) & 0xf0) != 0x60 || tcp > end || STAPGEN_READ(ip + 6, fault) != IPPROTO_TCP)
            return 0;
        segment->from[0] = STAPGEN_READ((const u64*)(ip + 8), fault);
        segment->from[1] = STAPGEN_READ((const u64*)(ip + 16), fault);
        segment->to[0] = STAPGEN_READ((const u64*)(ip + 24), fault);
        segment->to[1] = STAPGEN_READ((const u64*)(ip + 32), fault);
        behind = (long)ntohs(STAPGEN_READ((const __be16*)(ip + 4), fault));
    }
    if (*fault || tcp + 20 > end) return 0;
    segment->tcp = tcp;
    segment->data = (long)skb->len - (tcp - skb->data);
    /* What is longer than IP's length can say, and cut later, has 0 there. */
    if (behind > 0 && behind < segment->data && !STAPGEN_READ(&skb_shinfo(skb)->gso_size, fault))
        segment->data = behind;
    segment->data -= ((STAPGEN_READ(tcp + 12, fault) & 0xf0) >> 4) * 4;
    segment->from_port = STAPGEN_READ((const u16*)tcp, fault);
    segment->to_port = STAPGEN_READ((const u16*)(tcp + 2), fault);
    segment->flags = STAPGEN_READ(tcp + 13, fault);
    return !*fault && segment->data >= 0;
}
/* The one that it is sent in, and the one whose bytes it acknowledges. */
static inline unsigned long stapgen_connection_from(const struct stapgen_tcp_segment* segment) {
    return stapgen_connection(segment->from, segment->to, segment->from_port, segment->to_port);
}
static inline unsigned long stapgen_connection_to(const struct stapgen_tcp_segment* segment) {
    return stapgen_connection(segment->to, segment->from, segment->to_port, segment->from_port);
}
static inline int stapgen_is_first_syn(const struct stapgen_tcp_segment* segment) {
    return (segment->flags & (STAPGEN_SYN | STAPGEN_RST | STAPGEN_ACK)) == STAPGEN_SYN;
}
/* What is dropped so is a copy, or was there already; or it is a SYN that TCP has answered, by a RST, or by its SYN-ACK
 * once more. */
static inline int stapgen_is_no_loss(const struct stapgen_tcp_segment* segment, unsigned long location, long reason) {
    const enum stapgen_freeing freeing = stapgen_freeing_of(location);
    int is_answer = freeing == STAPGEN_FREED_BY_TCP;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0) || STAPGEN_IS_EL(9, 2) || STAPGEN_IS_EL(8, 8)
    if (reason == SKB_DROP_REASON_TCP_OLD_DATA || reason == SKB_DROP_REASON_TCP_OFOMERGE) return 1;
    is_answer &= reason == SKB_DROP_REASON_NOT_SPECIFIED || reason == SKB_DROP_REASON_NO_SOCKET;
#endif
    return freeing == STAPGEN_FREED_COPY || (is_answer && stapgen_is_first_syn(segment));
}

/* ---- of those who connect ---- */

/* The connection whose SYN is dropped there, or an answer to it; 0: neither. */
static inline unsigned long stapgen_dropped_connecting(const struct sk_buff* skb, unsigned long location, long reason,
                                                       const void** fault) {
    struct stapgen_tcp_segment segment = {};
    if (!STAPGEN_IS_READABLE(skb, fault) || !stapgen_read_tcp_segment(skb, &segment, fault)) return 0;
    if (!(segment.flags & (STAPGEN_SYN | STAPGEN_RST)) || stapgen_is_no_loss(&segment, location, reason)) return 0;
    return stapgen_is_first_syn(&segment) ? stapgen_connection_from(&segment) : stapgen_connection_to(&segment);
}
enum stapgen_connecting { STAPGEN_NOT_OF_CONNECTING, STAPGEN_ITS_SYN, STAPGEN_ITS_ANSWER };
/* What it is of that socket, which has sent a SYN: others may have its addresses and ports in another namespace. */
static inline enum stapgen_connecting stapgen_is_of_connecting(const struct sk_buff* skb, const struct sock* sk,
                                                               const void** fault) {
    struct stapgen_tcp_segment segment = {};
    u32 seq = STAPGEN_READ(&tcp_sk(sk)->snd_una, fault);
    if (!STAPGEN_IS_READABLE(skb, fault) || !stapgen_read_tcp_segment(skb, &segment, fault))
        return STAPGEN_NOT_OF_CONNECTING;
    if (stapgen_is_first_syn(&segment))
        return stapgen_read_be32(segment.tcp + 4, fault) == seq ? STAPGEN_ITS_SYN : STAPGEN_NOT_OF_CONNECTING;
    return stapgen_read_be32(segment.tcp + 8, fault) == seq + 1 ? STAPGEN_ITS_ANSWER : STAPGEN_NOT_OF_CONNECTING;
}

#endif
