/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a packet is, wherever in the stack it is: its protocol, and the port that it is for. */
#ifndef STAPGEN_PACKET_KIND_H
#define STAPGEN_PACKET_KIND_H

#include "frame.h"

struct stapgen_packet_kind {
    u16 type;       /* as in an Ethernet header; 0: it is no packet of the network, or has no network header yet */
    u8 protocol;    /* of IP */
    u8 is_fragment; /* of another packet */
    u16 port;       /* its destination, of TCP, UDP and SCTP; 0: none, as of a fragment that is not the first */
    u32 behind;     /* where the header behind that of IP begins, from the network header on; 0: not here */
};

/* Past what stands between an IPv6 header and the one that counts. */
static inline void stapgen_skip_extensions(const struct stapgen_frame* frame, struct stapgen_packet_kind* kind,
                                           const void** fault) {
    enum {
        STAPGEN_HOP_BY_HOP = 0,
        STAPGEN_ROUTING = 43,
        STAPGEN_FRAGMENT = 44,
        STAPGEN_DESTINATION = 60,
        STAPGEN_MOST_EXTENSIONS = 8
    };
    u32 i, next, length;
    for (i = 0; i < STAPGEN_MOST_EXTENSIONS; i++) {
        if (kind->protocol != STAPGEN_HOP_BY_HOP && kind->protocol != STAPGEN_ROUTING &&
            kind->protocol != STAPGEN_FRAGMENT && kind->protocol != STAPGEN_DESTINATION)
            return;
        kind->is_fragment |= kind->protocol == STAPGEN_FRAGMENT;
        if (!stapgen_load(frame, kind->behind, 4, &next, fault)) break;
        length = kind->protocol == STAPGEN_FRAGMENT ? 8 : ((next >> 16 & 0xff) + 1) * 8;
        /* What follows is not here but in the first fragment. */
        if (kind->protocol == STAPGEN_FRAGMENT && next & 0xfff8) length = 0;
        kind->protocol = next >> 24;
        if (!length) break;
        kind->behind += length;
    }
    kind->behind = 0;
}
/* Of an skb that can be read as a whole, with its network header there: behind the tags of VLANs. */
static inline void stapgen_packet_kind_at(const struct sk_buff* skb, const unsigned char* network,
                                          struct stapgen_packet_kind* kind, const void** fault) {
    struct stapgen_frame frame = {};
    enum { STAPGEN_MOST_TAG_BYTES = 8 };
    u32 ip = 0, first = 0, protocol = 0, offset = 0, port = 0;
    memset(kind, 0, sizeof(*kind));
    stapgen_frame_at(skb, network, &frame);
    kind->type = stapgen_frame_type(&frame, stapgen_mac_header_before(skb, network), fault);
    for (; ip < STAPGEN_MOST_TAG_BYTES; ip += STAPGEN_VLAN_HEADER) {
        if (kind->type != ETH_P_8021Q && kind->type != ETH_P_8021AD) break;
        if (!stapgen_load(&frame, ip + 2, 2, &first, fault)) return;
        kind->type = first;
    }
    if (kind->type == ETH_P_IP) {
        if (!stapgen_load(&frame, ip, 1, &first, fault) || !stapgen_load(&frame, ip + 6, 2, &offset, fault) ||
            !stapgen_load(&frame, ip + 9, 1, &protocol, fault))
            return;
        kind->protocol = protocol;
        kind->is_fragment = (offset & 0x3fff) != 0;
        if (!(offset & 0x1fff)) kind->behind = ip + (first & 0xf) * 4;
    } else if (kind->type == ETH_P_IPV6) {
        if (!stapgen_load(&frame, ip + 6, 1, &protocol, fault)) return;
        kind->protocol = protocol;
        kind->behind = ip + 40;
        stapgen_skip_extensions(&frame, kind, fault);
    }
    if (kind->behind && (kind->protocol == IPPROTO_TCP || kind->protocol == IPPROTO_UDP || kind->protocol == 132) &&
        stapgen_load(&frame, kind->behind + 2, 2, &port, fault))
        kind->port = port;
}
static inline void stapgen_packet_kind_of(const struct sk_buff* skb, struct stapgen_packet_kind* kind,
                                          const void** fault) {
    const unsigned char* network = NULL;
    memset(kind, 0, sizeof(*kind));
    if (STAPGEN_IS_READABLE(skb, fault)) network = stapgen_find_network_header(skb, fault);
    if (network) stapgen_packet_kind_at(skb, network, kind, fault);
}

/* As /etc/protocols has it; NULL: by its number. */
static inline const char* stapgen_protocol_name(const struct stapgen_packet_kind* kind) {
    if (kind->type == ETH_P_ARP) return "arp";
    if (kind->type != ETH_P_IP && kind->type != ETH_P_IPV6) return NULL;
    switch (kind->protocol) {
        case 1:
            return "icmp";
        case 2:
            return "igmp";
        case IPPROTO_TCP:
            return "tcp";
        case IPPROTO_UDP:
            return "udp";
        case 41:
            return "ipv6";
        case 47:
            return "gre";
        case 50:
            return "esp";
        case 58:
            return "ipv6-icmp";
        case 132:
            return "sctp";
        default:
            return NULL;
    }
}
/* Into TO, with a tab before it: "tcp", "ip-89", "0x88cc", "-". */
static inline void stapgen_write_protocol(const struct stapgen_packet_kind* kind, char* to, int room) {
    const char* name = stapgen_protocol_name(kind);
    if (name)
        scnprintf(to, room, "\t%s", name);
    else if (!kind->type)
        scnprintf(to, room, "\t-");
    else if (kind->type == ETH_P_IP || kind->type == ETH_P_IPV6)
        scnprintf(to, room, "\tip-%d", kind->protocol);
    else
        scnprintf(to, room, "\t0x%04x", kind->type);
}

#endif
