/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Received packets on their way to a socket, by skb->head and not by the skb: where a packet socket listens (tcpdump,
 * dhclient), IP goes on with a clone, and the clone has the same head. Where the head moves (generic XDP, zero copy
 * over loopback, netfilter that writes to a clone) the skb identifies it. Where its way ends is not always seen: what
 * has its head later is known not to be it by packet_id.h.
 *
 * A packet may be handed over more than once: by an ifb, a bridge, a tunnel on top of the first device. Its way begins
 * with the first time, and has two parts then.
 *
 * UDP gives one datagram to each reader of a multicast or a broadcast address, as clones, and cuts what was sent with
 * UDP_SEGMENT for a reader that does not take it whole: each copy and each piece is a datagram with the times of the
 * one that UDP had. */
#ifndef STAPGEN_RX_PACKET_H
#define STAPGEN_RX_PACKET_H

#include "alias.h"
#include "counters.h"
#include "head_set.h"
#include "packet_id.h"
#include "socket_id.h"

enum { STAPGEN_PAYLOAD_UNKNOWN = -1 };
struct stapgen_rx_packet {
    struct stapgen_place at;
    unsigned long skb; /* at its driver; 0: not seen */
    struct stapgen_packet_id id;
    s64 driver, ip, transport; /* ns; 0: not seen */
    s64 handed;                /* likewise, the last hand-over; mostly the driver's */
    u64 device[2];             /* the driver's, by name */
    s32 payload;
    s32 is_wanted; /* its device is one that is asked for */
};
STAPGEN_SET(stapgen_rx_packets, stapgen_rx_packet, STAPGEN_PACKET_BITS);
/* An skb at its driver to the head it had there. */
STAPGEN_ALIASES(stapgen_rx_skbs);
/* What has met its socket on this CPU last. */
STAPGEN_PER_CPU(struct stapgen_rx_packet, stapgen_rx_met);
/* The datagram that UDP works on on this CPU. */
struct stapgen_rx_datagram {
    unsigned long head;
    u32 ports;   /* 0: its header was not there to be read */
    int has_met; /* a socket: what was known of it is in stapgen_rx_met */
};
STAPGEN_PER_CPU(struct stapgen_rx_datagram, stapgen_rx_datagrams);

static inline struct stapgen_rx_packet* stapgen_find_rx_packet(unsigned long head) {
    return (struct stapgen_rx_packet*)stapgen_find(stapgen_rx_packets, head);
}
static inline struct stapgen_rx_packet* stapgen_new_rx_packet(unsigned long head, s64 now) {
    enum stapgen_inserted inserted;
    struct stapgen_rx_packet* packet =
        (struct stapgen_rx_packet*)stapgen_insert(stapgen_rx_packets, head, now, &inserted);
    if (!packet) return NULL;
    packet->skb = 0;
    memset(&packet->id, 0, sizeof(packet->id));
    packet->driver = packet->handed = packet->ip = packet->transport = 0;
    packet->device[0] = packet->device[1] = 0;
    packet->payload = STAPGEN_PAYLOAD_UNKNOWN;
    packet->is_wanted = 0;
    return packet;
}
static inline void stapgen_copy_rx_way(struct stapgen_rx_packet* to, const struct stapgen_rx_packet* from) {
    to->driver = from->driver;
    to->handed = from->handed;
    to->ip = from->ip;
    to->transport = from->transport;
    to->device[0] = from->device[0];
    to->device[1] = from->device[1];
    to->is_wanted = from->is_wanted;
}
static inline void stapgen_erase_rx_packet(unsigned long head) {
    stapgen_erase_key(stapgen_rx_packets, head);
}
/* That of an skb that can be read as a whole. NULL: it has none; whoever had its head is gone. */
static inline struct stapgen_rx_packet* stapgen_rx_packet_of(const struct sk_buff* skb, const void** fault) {
    struct stapgen_rx_packet* packet = stapgen_find_rx_packet((unsigned long)skb->head);
    if (!packet || stapgen_is_same_packet(&packet->id, skb, 0, fault)) return packet;
    stapgen_erase(&packet->at, (unsigned long)skb->head);
    return NULL;
}
/* A packet leaves its driver; enters IP. */
static inline void stapgen_rx_at_driver(const struct sk_buff* skb, const void** fault) {
    struct stapgen_rx_packet* packet;
    struct stapgen_packet_id id;
    unsigned long head;
    s64 now;
    u64 device[2] = {};
    if (!STAPGEN_IS_READABLE(skb, fault)) return;
    stapgen_read_device(skb, device, fault);
    head = (unsigned long)skb->head;
    id = stapgen_packet_id_if_ip(skb, skb->data, fault);
    if (*fault) return;
    packet = stapgen_find_rx_packet(head);
    if (packet && !packet->transport && stapgen_is_handed_over_again(&packet->id, skb, fault)) {
        packet->id = id;
        packet->ip = 0;
        packet->handed = STAPGEN_NOW();
        return;
    }
    stapgen_set_alias(stapgen_rx_skbs, (unsigned long)skb, head);
    /* What takes longer for one skb than for another is before it. */
    now = STAPGEN_NOW();
    packet = stapgen_new_rx_packet(head, now);
    if (!packet) return;
    packet->device[0] = device[0];
    packet->device[1] = device[1];
    packet->driver = packet->handed = now;
    packet->id = id;
    packet->skb = (unsigned long)skb;
}
/* The place of a head that no packet has: a new one, with what is known of the skb if it had another head at its driver
 * and has not been seen since. */
static inline struct stapgen_rx_packet* stapgen_moved_rx_packet(const struct sk_buff* skb, unsigned long head, s64 now,
                                                                const void** fault) {
    struct stapgen_rx_packet was = {},
                             *packet =
                                 stapgen_find_rx_packet(stapgen_head_by_alias(stapgen_rx_skbs, (unsigned long)skb));
    unsigned long key = packet ? READ_ONCE(packet->at.key) : 0;
    if (key && packet->skb == (unsigned long)skb && !packet->transport &&
        stapgen_is_same_packet(&packet->id, skb, 0, fault)) {
        was = *packet;
        if (!stapgen_erase(&packet->at, key)) was.driver = 0;
    }
    packet = stapgen_new_rx_packet(head, now);
    if (!packet || !was.driver) return packet;
    packet->skb = was.skb;
    packet->id = was.id;
    stapgen_copy_rx_way(packet, &was);
    stapgen_set_alias(stapgen_rx_skbs, (unsigned long)skb, head);
    return packet;
}
static inline void stapgen_rx_at_ip(const struct sk_buff* skb, const void** fault) {
    struct stapgen_rx_packet* packet;
    s64 now = STAPGEN_NOW();
    if (!STAPGEN_IS_READABLE(skb, fault)) return;
    packet = stapgen_rx_packet_of(skb, fault);
    if (*fault) return;
    if (!packet) packet = stapgen_moved_rx_packet(skb, (unsigned long)skb->head, now, fault);
    if (!packet) return;
    packet->ip = now;
    if (!packet->id.place) packet->id = stapgen_packet_id_at(skb, stapgen_network_header_of(skb), fault);
}
static inline u32 stapgen_udp_ports_of(const struct sk_buff* skb, const void** fault) {
    return STAPGEN_READ((const u32*)stapgen_transport_header_of(skb), fault);
}
/* Whether a datagram is still the one that had its skb, as stapgen_is_same_socket() compares it. */
static inline struct stapgen_socket_id stapgen_datagram_id_of(const struct sk_buff* skb, const void** fault) {
    struct stapgen_socket_id id;
    id.cookie = stapgen_packet_id_at(skb, stapgen_network_header_of(skb), fault).ip;
    id.ports = stapgen_udp_ports_of(skb, fault);
    return id;
}

/* Enters TCP or UDP: whether it is a segment with data or a datagram. One that is not is forgotten; one whose header
 * cannot be read yet is recognised at its socket. */
static inline int stapgen_rx_at_transport(const struct sk_buff* skb, int is_tcp, const void** fault) {
    struct stapgen_rx_packet* packet;
    unsigned long head;
    long payload;
    s64 now;
    if (!STAPGEN_IS_READABLE(skb, fault)) return 0;
    head = (unsigned long)skb->head;
    if (is_tcp)
        payload = stapgen_tcp_payload_of(skb, fault);
    else if (stapgen_transport_header_of(skb) + 8 <= stapgen_linear_end(skb))
        payload = stapgen_udp_payload_of(skb);
    else
        payload = STAPGEN_PAYLOAD_UNKNOWN;
    if (!is_tcp) {
        struct stapgen_rx_datagram* datagram = STAPGEN_THIS_CPU(stapgen_rx_datagrams);
        datagram->head = head;
        datagram->ports = payload < 0 ? 0 : stapgen_udp_ports_of(skb, fault);
        datagram->has_met = 0;
    }
    packet = stapgen_rx_packet_of(skb, fault);
    if (*fault) return 0;
    if (is_tcp && !payload) {
        if (packet) stapgen_erase(&packet->at, head);
        return 0;
    }
    if (payload >= 0) STAPGEN_ADD(rx_arrived);
    now = STAPGEN_NOW();
    if (!packet) packet = stapgen_moved_rx_packet(skb, head, now, fault);
    if (!packet) return 0;
    if (!packet->id.place) packet->id = stapgen_packet_id_at(skb, stapgen_network_header_of(skb), fault);
    packet->transport = now;
    packet->payload = payload;
    return payload >= 0;
}

/* Its way has ended: what is known of it is in stapgen_rx_met. A time from before that of the place before it is none
 * of its own. Nothing is done where its payload is not known yet. */
enum stapgen_popped { STAPGEN_NONE, STAPGEN_POPPED, STAPGEN_NOT_YET };
static inline enum stapgen_popped stapgen_pop_rx_packet_at(struct stapgen_rx_packet* packet, unsigned long head) {
    struct stapgen_rx_packet* popped;
    if (!packet || !packet->transport) return STAPGEN_NONE;
    if (packet->payload < 0) return STAPGEN_NOT_YET;
    popped = STAPGEN_THIS_CPU(stapgen_rx_met);
    *popped = *packet;
    if (!stapgen_erase(&packet->at, head)) return STAPGEN_NONE;
    if (STAPGEN_THIS_CPU(stapgen_rx_datagrams)->head == head) STAPGEN_THIS_CPU(stapgen_rx_datagrams)->has_met = 1;
    if (popped->ip < popped->handed) popped->ip = 0;
    if (popped->handed > popped->transport || popped->ip > popped->transport)
        popped->driver = popped->handed = popped->ip = 0;
    return STAPGEN_POPPED;
}
static inline enum stapgen_popped stapgen_pop_rx_packet(unsigned long head) {
    return stapgen_pop_rx_packet_at(stapgen_find_rx_packet(head), head);
}
/* A datagram at its socket that is not the one that UDP works on: a copy or a piece of it, which gets a place of its
 * own. NULL: it is neither. */
static inline struct stapgen_rx_packet* stapgen_divide_datagram(const struct sk_buff* skb, const void** fault) {
    struct stapgen_rx_datagram* datagram = STAPGEN_THIS_CPU(stapgen_rx_datagrams);
    struct stapgen_rx_packet *met = STAPGEN_THIS_CPU(stapgen_rx_met), *packet;
    int is_first = !datagram->has_met;
    if (!datagram->ports || !STAPGEN_IS_READABLE(skb, fault)) return NULL;
    if (stapgen_udp_ports_of(skb, fault) != datagram->ports || *fault) return NULL;
    if (is_first && stapgen_pop_rx_packet(datagram->head) != STAPGEN_POPPED) return NULL;
    packet = stapgen_new_rx_packet((unsigned long)skb->head, STAPGEN_NOW());
    if (!is_first) {
        STAPGEN_ADD(rx_arrived);
        STAPGEN_ADD(rx_divided);
    }
    if (!packet) return NULL;
    stapgen_copy_rx_way(packet, met);
    packet->payload = stapgen_udp_payload_of(skb);
    return packet;
}
/* The packet of an skb at its socket; NULL: it is not followed. A datagram gets there in the call in which it entered
 * UDP: what else has its head was there before. */
static inline struct stapgen_rx_packet* stapgen_rx_packet_at_socket(const struct sk_buff* skb, int is_tcp,
                                                                    const void** fault) {
    struct stapgen_rx_packet* packet;
    unsigned long head;
    if (!STAPGEN_IS_READABLE(skb, fault)) return NULL;
    head = (unsigned long)skb->head;
    packet = stapgen_rx_packet_of(skb, fault);
    if (*fault) return NULL;
    if (packet && packet->transport && (is_tcp || head == STAPGEN_THIS_CPU(stapgen_rx_datagrams)->head)) return packet;
    return is_tcp ? NULL : stapgen_divide_datagram(skb, fault);
}

enum stapgen_at_socket {
    STAPGEN_NOT_FOLLOWED,
    STAPGEN_FOLLOWED,
    STAPGEN_FIRST_READ, /* its header could not be read before */
};
static inline enum stapgen_at_socket stapgen_rx_at_socket(const struct sk_buff* skb, int is_tcp, const void** fault) {
    struct stapgen_rx_packet* packet = stapgen_rx_packet_at_socket(skb, is_tcp, fault);
    long payload;
    if (!packet) return STAPGEN_NOT_FOLLOWED;
    if (packet->payload >= 0) return STAPGEN_FOLLOWED;
    if (!STAPGEN_IS_READABLE(skb, fault)) return STAPGEN_NOT_FOLLOWED;
    payload = is_tcp ? stapgen_tcp_payload_of(skb, fault) : stapgen_udp_payload_of(skb);
    if (*fault) return STAPGEN_NOT_FOLLOWED;
    if (payload < 0 || (is_tcp && !payload)) {
        stapgen_erase(&packet->at, (unsigned long)skb->head);
        return STAPGEN_NOT_FOLLOWED;
    }
    packet->payload = payload;
    STAPGEN_ADD(rx_arrived);
    return STAPGEN_FIRST_READ;
}

/* It goes no further than its socket: it is counted as WHAT, if it was followed, and forgotten. */
static inline void stapgen_rx_end_at_socket(const struct sk_buff* skb, int is_tcp, int what, const void** fault) {
    if (stapgen_rx_at_socket(skb, is_tcp, fault) != STAPGEN_NOT_FOLLOWED &&
        stapgen_pop_rx_packet(stapgen_head(skb, fault)) == STAPGEN_POPPED)
        stapgen_add(what);
}

/* It is dropped, and whether it may have been a wanted one. A packet socket that cannot follow frees its copy likewise:
 * what is shared goes on. */
static inline void stapgen_rx_dropped(const struct sk_buff* skb, int is_wanted, const void** fault) {
    unsigned long head = stapgen_head(skb, fault);
    struct stapgen_rx_packet* packet = stapgen_find_rx_packet(head);
    int is_counted;
    if (!packet || !packet->driver || *fault) return;
    if (!STAPGEN_IS_READABLE(skb, fault) || stapgen_shares_data(skb, fault) || *fault) return;
    if (!stapgen_rx_packet_of(skb, fault)) return;
    is_counted = packet->payload < 0 && stapgen_ip_payload_of(skb, fault) > 0;
    if (*fault) return;
    if (!is_wanted && (is_counted || packet->transport)) STAPGEN_ADD(rx_unwanted);
    if (is_counted && (packet->transport || !is_wanted))
        STAPGEN_ADD(rx_arrived);
    else if (is_counted)
        STAPGEN_ADD(rx_dropped_before);
    stapgen_erase(&packet->at, head);
}

#endif
