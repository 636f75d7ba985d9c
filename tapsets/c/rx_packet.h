/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Received packets on their way to a socket, by skb->head and not by the skb: where a packet socket listens (tcpdump,
 * dhclient), IP goes on with a clone, and the clone has the same head. */
#ifndef STAPGEN_RX_PACKET_H
#define STAPGEN_RX_PACKET_H

#include "counters.h"
#include "head_set.h"

enum { STAPGEN_PAYLOAD_UNKNOWN = -1 };
struct stapgen_rx_packet {
    struct stapgen_place at;
    s64 driver, ip, transport; /* ns; 0: not seen */
    u64 device[2];             /* the driver's, by name */
    s32 payload;
    s32 is_wanted; /* its device is one that is asked for */
};
STAPGEN_SET(stapgen_rx_packets, stapgen_rx_packet, STAPGEN_PACKET_BITS);
/* What has met its socket on this CPU last. */
STAPGEN_PER_CPU(struct stapgen_rx_packet, stapgen_rx_met);

static inline struct stapgen_rx_packet* stapgen_find_rx_packet(unsigned long head) {
    return (struct stapgen_rx_packet*)stapgen_find(stapgen_rx_packets, head);
}
static inline struct stapgen_rx_packet* stapgen_new_rx_packet(unsigned long head, s64 now) {
    enum stapgen_inserted inserted;
    struct stapgen_rx_packet* packet =
        (struct stapgen_rx_packet*)stapgen_insert(stapgen_rx_packets, head, now, &inserted);
    if (!packet) return NULL;
    packet->driver = packet->ip = packet->transport = 0;
    packet->device[0] = packet->device[1] = 0;
    packet->payload = STAPGEN_PAYLOAD_UNKNOWN;
    packet->is_wanted = 0;
    return packet;
}
static inline void stapgen_erase_rx_packet(unsigned long head) {
    struct stapgen_rx_packet* packet = stapgen_find_rx_packet(head);
    if (packet) stapgen_erase(&packet->at, head);
}

/* A packet leaves its driver; enters IP. */
static inline void stapgen_rx_at_driver(const struct sk_buff* skb, const void** fault) {
    struct stapgen_rx_packet* packet;
    unsigned long head = stapgen_head(skb, fault);
    s64 now;
    u64 device[2];
    stapgen_read_device(skb, device, fault);
    if (*fault) return;
    now = STAPGEN_NOW();
    packet = stapgen_new_rx_packet(head, now);
    if (!packet) return;
    packet->device[0] = device[0];
    packet->device[1] = device[1];
    packet->driver = now;
}
static inline void stapgen_rx_at_ip(const struct sk_buff* skb, const void** fault) {
    unsigned long head = stapgen_head(skb, fault);
    struct stapgen_rx_packet* packet = stapgen_find_rx_packet(head);
    s64 now = STAPGEN_NOW();
    if (*fault) return;
    if (!packet) packet = stapgen_new_rx_packet(head, now);
    if (packet) packet->ip = now;
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
    if (*fault) return 0;
    packet = stapgen_find_rx_packet(head);
    if (is_tcp && !payload) {
        if (packet) stapgen_erase(&packet->at, head);
        return 0;
    }
    if (payload >= 0) STAPGEN_ADD(rx_arrived);
    now = STAPGEN_NOW();
    if (!packet) packet = stapgen_new_rx_packet(head, now);
    if (!packet) return 0;
    packet->transport = now;
    packet->payload = payload;
    return payload >= 0;
}

enum stapgen_at_socket {
    STAPGEN_NOT_FOLLOWED,
    STAPGEN_FOLLOWED,
    STAPGEN_FIRST_READ, /* its header could not be read before */
};
static inline enum stapgen_at_socket stapgen_rx_at_socket(const struct sk_buff* skb, int is_tcp, const void** fault) {
    unsigned long head = stapgen_head(skb, fault);
    struct stapgen_rx_packet* packet = stapgen_find_rx_packet(head);
    long payload;
    if (!packet || !packet->transport || *fault) return STAPGEN_NOT_FOLLOWED;
    if (packet->payload >= 0) return STAPGEN_FOLLOWED;
    if (!STAPGEN_IS_READABLE(skb, fault)) return STAPGEN_NOT_FOLLOWED;
    payload = is_tcp ? stapgen_tcp_payload_of(skb, fault) : stapgen_udp_payload_of(skb);
    if (*fault) return STAPGEN_NOT_FOLLOWED;
    if (payload < 0 || (is_tcp && !payload)) {
        stapgen_erase(&packet->at, head);
        return STAPGEN_NOT_FOLLOWED;
    }
    packet->payload = payload;
    STAPGEN_ADD(rx_arrived);
    return STAPGEN_FIRST_READ;
}

/* Its way has ended: what is known of it. A time from before that of the place before it is that of another packet that
 * had this head. Nothing is done where its payload is not known yet. */
enum stapgen_popped { STAPGEN_NONE, STAPGEN_POPPED, STAPGEN_NOT_YET };
static inline enum stapgen_popped stapgen_pop_rx_packet(unsigned long head, struct stapgen_rx_packet* popped) {
    struct stapgen_rx_packet* packet = stapgen_find_rx_packet(head);
    if (!packet || !packet->transport) return STAPGEN_NONE;
    if (packet->payload < 0) return STAPGEN_NOT_YET;
    *popped = *packet;
    if (!stapgen_erase(&packet->at, head)) return STAPGEN_NONE;
    if (popped->ip < popped->driver) popped->ip = 0;
    if (popped->driver > popped->transport || popped->ip > popped->transport) popped->driver = popped->ip = 0;
    return STAPGEN_POPPED;
}

/* It is dropped. A packet socket that cannot follow frees its copy likewise: what is shared goes on. */
static inline void stapgen_rx_dropped(const struct sk_buff* skb, const void** fault) {
    unsigned long head = stapgen_head(skb, fault);
    struct stapgen_rx_packet* packet = stapgen_find_rx_packet(head);
    int is_counted;
    if (!packet || !packet->driver || *fault) return;
    if (!STAPGEN_IS_READABLE(skb, fault) || stapgen_shares_data(skb, fault) || *fault) return;
    is_counted = packet->payload < 0 && stapgen_ip_payload_of(skb, fault) > 0;
    if (*fault) return;
    if (is_counted && packet->transport)
        STAPGEN_ADD(rx_arrived);
    else if (is_counted)
        STAPGEN_ADD(rx_dropped_before);
    stapgen_erase(&packet->at, head);
}

#endif
