/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A packet as the Ethernet frame that a filter reads, wherever in the stack it is: its own network header, and all that
 * follows, behind an Ethernet header. That is the packet's own where it is known, else one is made up, so that a
 * program of libpcap's for Ethernet serves all places. */
#ifndef STAPGEN_FRAME_H
#define STAPGEN_FRAME_H

#include <linux/if_ether.h>
#include <linux/if_vlan.h>

#include "read.h"

#ifndef ETH_P_802_3_MIN
#define ETH_P_802_3_MIN 0x0600
#endif
#ifndef skb_vlan_tag_present
#define skb_vlan_tag_present(skb) vlan_tx_tag_present(skb)
#define skb_vlan_tag_get(skb) vlan_tx_tag_get(skb)
#endif

enum { STAPGEN_VLAN_HEADER = 4 };
struct stapgen_frame {
    const struct sk_buff* skb;
    const unsigned char* network; /* its network header */
    u32 linear;                   /* bytes from there that are in one piece */
    u32 length;                   /* of the whole frame, as tcpdump's `len` */
    u32 header_length;
    u8 header[ETH_HLEN + STAPGEN_VLAN_HEADER];
};

static inline void stapgen_set_be16(u8* to, u16 number) {
    to[0] = number >> 8;
    to[1] = (u8)number;
}
static inline u16 stapgen_be16_at(const unsigned char* at, const void** fault) {
    return STAPGEN_READ(at, fault) << 8 | STAPGEN_READ(at + 1, fault);
}

/* Where the MAC header is, with all of it in front of that place; else NULL. */
static inline const unsigned char* stapgen_mac_header_before(const struct sk_buff* skb, const unsigned char* place) {
    const unsigned char* mac = skb->head + skb->mac_header;
    return skb->mac_header != (__typeof__(skb->mac_header))~0U && mac + ETH_HLEN <= place ? mac : NULL;
}

/* Whether a header of the packet's protocol begins there, judged by its first byte. */
static inline int stapgen_is_network_header(const struct sk_buff* skb, const unsigned char* at, const void** fault) {
    u8 first;
    if (at >= stapgen_linear_end(skb)) return 0;
    first = STAPGEN_READ(at, fault);
    switch (ntohs(skb->protocol)) {
        case 0: /* TCP's and UDP's own, before IP has noted it */
            return (first & 0xf0) == 0x40 || (first & 0xf0) == 0x60;
        case ETH_P_IP:
            return (first & 0xf0) == 0x40;
        case ETH_P_IPV6:
            return (first & 0xf0) == 0x60;
        case ETH_P_ARP:
            return !first; /* of the hardware's type */
        default:
            return 0;
    }
}
/* Whether the type in that MAC header is the packet's. Frames of 802.3 have a length there, and the kernel one of a few
 * small numbers. */
static inline int stapgen_has_type(const struct sk_buff* skb, const unsigned char* mac, const void** fault) {
    const u16 type = stapgen_be16_at(mac + ETH_HLEN - 2, fault), protocol = ntohs(skb->protocol);
    return type == protocol || (type < ETH_P_802_3_MIN && protocol < ETH_P_802_3_MIN);
}
/* NULL: it is no packet of the network (a message of a Unix socket, of netlink), or has no such header yet. */
static inline const unsigned char* stapgen_find_network_header(const struct sk_buff* skb, const void** fault) {
    const unsigned char *place = skb->head + skb->network_header, *mac;
    /* Not set before the packet has left its driver. */
    if (skb->network_header && stapgen_is_network_header(skb, place, fault)) return place;
    if (!skb->protocol) return NULL;
    mac = stapgen_mac_header_before(skb, stapgen_linear_end(skb));
    if (mac && stapgen_has_type(skb, mac, fault)) return mac + ETH_HLEN;
    return stapgen_is_network_header(skb, skb->data, fault) ? skb->data : NULL;
}

/* The type that the kernel has noted. */
static inline u16 stapgen_frame_type(const struct stapgen_frame* frame, const unsigned char* mac, const void** fault) {
    u16 type = ntohs(frame->skb->protocol);
    if (type < ETH_P_802_3_MIN && mac && mac + ETH_HLEN == frame->network)
        type = stapgen_be16_at(mac + ETH_HLEN - 2, fault);
    if (!type) type = (STAPGEN_READ(frame->network, fault) & 0xf0) == 0x60 ? ETH_P_IPV6 : ETH_P_IP;
    return type;
}
/* In front of it: the addresses where the MAC header is there, else zeros; the type. */
static inline void stapgen_set_ethernet_header(struct stapgen_frame* frame, int with_vlan, const void** fault) {
    const struct sk_buff* skb = frame->skb;
    const unsigned char* mac = stapgen_mac_header_before(skb, frame->network);
    u32 i;
    memset(frame->header, 0, sizeof(frame->header));
    for (i = 0; mac && i < 2 * ETH_ALEN; i++)
        frame->header[i] = STAPGEN_READ(mac + i, fault);
    frame->header_length = ETH_HLEN;
    /* A tag that the device has taken off, or will put on. */
    if (with_vlan && skb_vlan_tag_present(skb)) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(3, 10, 0)
        stapgen_set_be16(frame->header + frame->header_length - 2, ntohs(skb->vlan_proto));
#else
        stapgen_set_be16(frame->header + frame->header_length - 2, ETH_P_8021Q);
#endif
        stapgen_set_be16(frame->header + frame->header_length, skb_vlan_tag_get(skb));
        frame->header_length += STAPGEN_VLAN_HEADER;
    }
    stapgen_set_be16(frame->header + frame->header_length - 2, stapgen_frame_type(frame, mac, fault));
    frame->length += frame->header_length;
}

/* From a network header on, without an Ethernet header, of an skb that can be read. */
static inline void stapgen_frame_at(const struct sk_buff* skb, const unsigned char* network,
                                    struct stapgen_frame* frame) {
    frame->skb = skb;
    frame->network = network;
    frame->linear = (u32)(stapgen_linear_end(skb) - network);
    frame->length = frame->linear + skb->data_len;
    frame->header_length = 0;
}
/* Whether it is a packet of the network. WITH_VLAN: a VLAN tag that is kept beside it is put in, as it is on the wire.
 */
static inline int stapgen_frame_of(const struct sk_buff* skb, int with_vlan, struct stapgen_frame* frame,
                                   const void** fault) {
    const unsigned char* network;
    if (!STAPGEN_IS_READABLE(skb, fault)) return 0;
    network = stapgen_find_network_header(skb, fault);
    if (!network) return 0;
    stapgen_frame_at(skb, network, frame);
    stapgen_set_ethernet_header(frame, with_vlan, fault);
    return !*fault;
}

/* The byte there, of a frame that has it: -1 where it cannot be got. */
static inline int stapgen_frame_byte(const struct stapgen_frame* frame, u32 at, const void** fault) {
    u8 byte;
    if (at < frame->header_length) return frame->header[at];
    at -= frame->header_length;
    if (at < frame->linear) return STAPGEN_READ(frame->network + at, fault);
    /* In a page. */
    return skb_copy_bits(frame->skb, (int)(frame->network - frame->skb->data) + (int)at, &byte, 1) ? -1 : byte;
}
/* SIZE bytes (1, 2 or 4) from there on as a number in network byte order: whether the frame has them. */
static inline int stapgen_load(const struct stapgen_frame* frame, u32 at, u32 size, u32* value, const void** fault) {
    u32 i;
    if (at > frame->length || size > frame->length - at) return 0;
    if (at >= frame->header_length && at - frame->header_length + size <= frame->linear) {
        const unsigned char* place = frame->network + (at - frame->header_length);
        if (size == 4)
            *value = ntohl(STAPGEN_READ((const __be32*)place, fault));
        else if (size == 2)
            *value = ntohs(STAPGEN_READ((const __be16*)place, fault));
        else
            *value = STAPGEN_READ(place, fault);
        return !*fault;
    }
    for (*value = i = 0; i < size; i++) {
        int byte = stapgen_frame_byte(frame, at + i, fault);
        if (byte < 0) return 0;
        *value = *value << 8 | (u32)byte;
    }
    return !*fault;
}

#endif
