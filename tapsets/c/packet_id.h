/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a packet is still the one that had this head or this skb: the allocator gives both to others, and the end of
 * a packet's way may not be seen (a skipped probe, IPsec). By what nothing on its way changes: length, identification
 * and fragment of IPv4, length and flow label of IPv6, sequence number of TCP, length of UDP. */
#ifndef STAPGEN_PACKET_ID_H
#define STAPGEN_PACKET_ID_H

#include <linux/if_ether.h>
#include <linux/in.h>

#include "read.h"

struct stapgen_packet_id {
    u64 ip;        /* 0: not known */
    u64 transport; /* the protocol, above a sequence number or a length; 0: not known */
    u16 place;     /* of its IP header in the head; 0: not known */
};
#define STAPGEN_ID_OF_FRAGMENT (1ULL << 52)

static inline u32 stapgen_read_be32(const unsigned char* from, const void** fault) {
    return ntohl(STAPGEN_READ((const __be32*)from, fault));
}
static inline u64 stapgen_transport_id(int protocol, u32 number) {
    return (u64)protocol << 32 | number;
}
/* Of a segment that has no header yet. */
static inline struct stapgen_packet_id stapgen_id_of_segment(u32 seq) {
    struct stapgen_packet_id id = {0, 0, 0};
    id.transport = stapgen_transport_id(IPPROTO_TCP, seq);
    return id;
}
/* The first two words of an IPv4 header, without its type of service. */
static inline u64 stapgen_ip4_id(u32 first, u32 second) {
    return (u64)(first & 0xff00ffff) << 32 | second;
}
/* Of an skb that can be read as a whole, and whose IP header is there. All 0: it is none, or not here. */
static inline struct stapgen_packet_id stapgen_packet_id_at(const struct sk_buff* skb, const unsigned char* header,
                                                            const void** fault) {
    enum {
        STAPGEN_IP4_OFFSET = 0x3fff,
        STAPGEN_IP4_FURTHER = 0x1fff,
        STAPGEN_HOP_BY_HOP = 0,
        STAPGEN_ROUTING = 43,
        STAPGEN_FRAGMENT = 44,
        STAPGEN_AUTHENTICATION = 51,
        STAPGEN_DESTINATION = 60
    };
    struct stapgen_packet_id id = {0, 0, 0};
    const unsigned char *end = stapgen_linear_end(skb), *transport;
    u32 first, second;
    int protocol;
    if (header < skb->head || header + 20 > end) return id;
    first = stapgen_read_be32(header, fault);
    second = stapgen_read_be32(header + 4, fault);
    if (first >> 28 == 4) {
        id.ip = stapgen_ip4_id(first, second);
        if (second & STAPGEN_IP4_OFFSET) id.ip |= STAPGEN_ID_OF_FRAGMENT;
        transport = second & STAPGEN_IP4_FURTHER ? end : header + (first >> 24 & 0xf) * 4;
        protocol = STAPGEN_READ(header + 9, fault);
    } else if (first >> 28 == 6 && header + 40 <= end) {
        id.ip = (u64)(first & 0xf00fffff) << 32 | (second & 0xffffff00);
        protocol = second >> 8 & 0xff;
        transport = header + 40;
        if (protocol == STAPGEN_FRAGMENT && transport + 8 <= end)
            id.ip = (u64)(first & 0xf00fffff) << 32 | STAPGEN_ID_OF_FRAGMENT |
                    (stapgen_read_be32(transport + 4, fault) ^ (stapgen_read_be32(transport, fault) & 0xffff));
        if (protocol == STAPGEN_HOP_BY_HOP || protocol == STAPGEN_ROUTING || protocol == STAPGEN_FRAGMENT ||
            protocol == STAPGEN_AUTHENTICATION || protocol == STAPGEN_DESTINATION)
            transport = end;
    } else {
        return id;
    }
    id.place = header - skb->head;
    if (transport + 8 > end) return id;
    first = protocol == IPPROTO_TCP || protocol == IPPROTO_UDP ? stapgen_read_be32(transport + 4, fault) : 0;
    id.transport = stapgen_transport_id(protocol, protocol == IPPROTO_UDP ? first >> 16 : first);
    return id;
}
/* The same where it may be of another protocol. */
static inline struct stapgen_packet_id stapgen_packet_id_if_ip(const struct sk_buff* skb, const unsigned char* header,
                                                               const void** fault) {
    struct stapgen_packet_id none = {0, 0, 0};
    if (skb->protocol != htons(ETH_P_IP) && skb->protocol != htons(ETH_P_IPV6)) return none;
    return stapgen_packet_id_at(skb, header, fault);
}
/* Of a datagram whose IP header has no length yet. */
static inline struct stapgen_packet_id stapgen_id_of_datagram(const struct sk_buff* skb, const void** fault) {
    struct stapgen_packet_id id = stapgen_packet_id_at(skb, stapgen_network_header_of(skb), fault);
    id.ip = 0;
    id.place = 0;
    return id;
}
/* IS_PIECE: now it may be the first of several into which it was cut, which has other lengths. */
static inline int stapgen_differs_in_id(const struct stapgen_packet_id* was, const struct stapgen_packet_id* now,
                                        int is_piece) {
    u64 kept = ~0ULL;
    if (is_piece || (was->ip ^ now->ip) & STAPGEN_ID_OF_FRAGMENT)
        kept = was->ip >> 60 == 4 ? 0xf0000000ffff0000ULL : 0xf00fffff00000000ULL;
    if (was->ip && (was->ip & kept) != (now->ip & kept)) return 1;
    if (!was->transport || !now->transport || was->transport == now->transport) return 0;
    return !is_piece || was->transport >> 32 != IPPROTO_UDP || now->transport >> 32 != IPPROTO_UDP;
}
/* Whether it still has the IP header that it had, at the same place. */
static inline int stapgen_has_kept_header(const struct stapgen_packet_id* id, const struct sk_buff* skb, int is_piece,
                                          const void** fault) {
    const unsigned char* header = skb->head + id->place;
    struct stapgen_packet_id now;
    if (!id->place) return 0;
    /* Most packets of IPv4 have an identification, which with the length is enough. */
    if (id->ip >> 60 == 4 && id->ip & 0xffff0000 && header + 20 <= stapgen_linear_end(skb) &&
        stapgen_ip4_id(stapgen_read_be32(header, fault), stapgen_read_be32(header + 4, fault)) == id->ip)
        return 1;
    now = stapgen_packet_id_at(skb, header, fault);
    return now.ip && !stapgen_differs_in_id(id, &now, is_piece);
}
static inline int stapgen_has_inner_header(const struct stapgen_packet_id* id, const struct sk_buff* skb, int is_piece,
                                           const void** fault) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(3, 10, 0)
    struct stapgen_packet_id now;
    if (!skb->encapsulation) return 0;
    now = stapgen_packet_id_at(skb, skb->head + skb->inner_network_header, fault);
    return now.ip && !stapgen_differs_in_id(id, &now, is_piece);
#else
    return 0;
#endif
}
/* Whether an skb that can be read as a whole has that packet. It may have got another header in front (a tunnel), or
 * have lost one (IPsec), or have been moved to another head. */
static inline int stapgen_is_same_packet(const struct stapgen_packet_id* id, const struct sk_buff* skb, int is_piece,
                                         const void** fault) {
    struct stapgen_packet_id now;
    if ((!id->ip && !id->transport) || stapgen_has_kept_header(id, skb, is_piece, fault)) return 1;
    now = stapgen_packet_id_at(skb, stapgen_network_header_of(skb), fault);
    return !stapgen_differs_in_id(id, &now, is_piece) || stapgen_has_inner_header(id, skb, is_piece, fault);
}

/* The number of the device it came by; 0 where it is this machine's own, and before it is handed over. */
static inline int stapgen_came_by(const struct sk_buff* skb, const void** fault) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(2, 6, 33)
    return STAPGEN_READ(&skb->skb_iif, fault);
#else
    return STAPGEN_READ(&skb->iif, fault);
#endif
}
/* Whether an skb that is handed over is a packet which has been before: it has the IP header that it had, and the
 * kernel says that it came by a device, or a tunnel has taken it out of another one. */
static inline int stapgen_is_handed_over_again(const struct stapgen_packet_id* id, const struct sk_buff* skb,
                                               const void** fault) {
    return stapgen_has_kept_header(id, skb, 0, fault) &&
           (stapgen_came_by(skb, fault) || skb->data > skb->head + id->place);
}

#endif
