/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets that this machine passes on, from the driver that handed them over to the one that gets them.
 *
 * Each received packet is an arrival, by its skb, until that is used again: most are for this machine, and nothing
 * reports when their way ends. One that ip_forward() gets, or that another device's queue gets without it, is
 * forwarded: from there on it has a place of its own. Its skb stays and its head moves (ip_forward() makes room for
 * another header), or its head stays and the skb is another (a packet socket listens, a bridge floods): a place is
 * found by either, but an skb whose head is another one's only where no place has that head.
 *
 * Packets of this machine's own have no device that they came by (skb_iif), whoever had their skb before. */
#ifndef STAPGEN_FORWARD_H
#define STAPGEN_FORWARD_H

#include <linux/if_ether.h>
#include <net/rtnetlink.h>

#include "alias.h"
#include "counters.h"
#include "head_set.h"
#include "packet_id.h"
#include "stages.h"

#ifndef STAPGEN_FORWARD_BITS
#define STAPGEN_FORWARD_BITS 12
#endif

/* How it was passed on; in records by name. */
enum stapgen_forwarding {
    STAPGEN_ROUTED,     /* by ip_forward(), ip6_forward() */
    STAPGEN_BRIDGED,    /* from a bridge's port, without that */
    STAPGEN_REDIRECTED, /* by neither: nftables' flowtable, tc, multicast routing */
};

struct stapgen_arrival {
    struct stapgen_place at; /* its skb; since: the driver's hand-over */
    unsigned long head;
    struct stapgen_packet_id id;
    s64 ip;        /* ns, of entering it; 0: not seen */
    u64 device[2]; /* the driver's, by name */
    u32 bytes;
    u8 is_port; /* of a bridge */
    u8 is_wanted;
};
STAPGEN_SET(stapgen_arrivals, stapgen_arrival, STAPGEN_FORWARD_BITS);

struct stapgen_forwarded {
    struct stapgen_place at; /* its skb; since: it was known to be forwarded */
    unsigned long head;
    struct stapgen_packet_id id;
    s64 driver, ip, forward, output, finish, queued; /* ns; 0: not seen */
    u64 device[2];                                   /* of the driver that received it, by name */
    u32 bytes;
    u8 how;
    u8 is_wanted;   /* one of its devices is one that is asked for */
    u8 is_left_out; /* by a filter, and counted as that */
};
STAPGEN_SET(stapgen_forwards, stapgen_forwarded, STAPGEN_FORWARD_BITS);

/* A head, and the head of a first piece that was cut in software, to the skb. */
STAPGEN_ALIASES(stapgen_arrival_heads);
STAPGEN_ALIASES(stapgen_forward_heads);
STAPGEN_ALIASES(stapgen_forward_cuts);
/* What has left from this CPU last. */
STAPGEN_PER_CPU(struct stapgen_forwarded, stapgen_forward_left);

static inline int stapgen_is_bridge_port(const struct net_device* dev, const void** fault) {
    if (!STAPGEN_IS_READABLE(dev, fault)) return 0;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 4, 0)
    return netif_is_bridge_port(dev);
#else
    return (dev->priv_flags & IFF_BRIDGE_PORT) != 0;
#endif
}

/* Whether it gives packets back to the device that they came by. */
static inline int stapgen_is_ifb(const struct net_device* dev, const void** fault) {
    const struct rtnl_link_ops* kind = STAPGEN_READ(&dev->rtnl_link_ops, fault);
    char name[5] = {0};
    if (!kind || *fault) return 0;
    stapgen_read_text(name, sizeof(name), STAPGEN_READ(&kind->kind, fault), fault);
    return !strcmp(name, "ifb");
}
/* What routers leave as it is: two packets of one skb that are known to differ in it are two. Sequence numbers are
 * changed by NAT's helpers. */
static inline struct stapgen_packet_id stapgen_forward_id(const struct sk_buff* skb, const unsigned char* header,
                                                          const void** fault) {
    struct stapgen_packet_id id = {0, 0, 0};
    if (STAPGEN_IS_READABLE(skb, fault)) id = stapgen_packet_id_if_ip(skb, header, fault);
    id.transport = 0;
    return id;
}
static inline int stapgen_is_known_to_differ(const struct stapgen_packet_id* was, const struct stapgen_packet_id* now) {
    return was->ip && now->ip && was->ip != now->ip;
}

/* ---- arrivals ---- */

/* Of what is at that head now, with an IP header at HEADER. The head may have moved since, or another skb have it. */
static inline struct stapgen_arrival* stapgen_find_arrival(const struct sk_buff* skb, unsigned long head,
                                                           const unsigned char* header, const void** fault) {
    struct stapgen_arrival* arrival = (struct stapgen_arrival*)stapgen_find(stapgen_arrivals, (unsigned long)skb);
    struct stapgen_packet_id id = stapgen_forward_id(skb, header, fault);
    if (arrival && (arrival->head == head || (id.ip && arrival->id.ip == id.ip)) &&
        !stapgen_is_known_to_differ(&arrival->id, &id))
        return arrival;
    arrival =
        (struct stapgen_arrival*)stapgen_find(stapgen_arrivals, stapgen_head_by_alias(stapgen_arrival_heads, head));
    return arrival && arrival->head == head && !stapgen_is_known_to_differ(&arrival->id, &id) ? arrival : NULL;
}
static inline struct stapgen_arrival* stapgen_find_arrival_in_ip(const struct sk_buff* skb, unsigned long head,
                                                                 const void** fault) {
    const unsigned char* header = STAPGEN_IS_READABLE(skb, fault) ? stapgen_network_header_of(skb) : NULL;
    return *fault ? NULL : stapgen_find_arrival(skb, head, header, fault);
}
/* A driver hands it over; a bridge or an ifb does so again, with what it passes up. */
static inline void stapgen_forward_at_driver(const struct sk_buff* skb, int is_wanted, const void** fault) {
    enum stapgen_inserted inserted;
    struct stapgen_arrival* arrival;
    struct stapgen_place* left;
    u64 device[2] = {};
    unsigned long head = stapgen_head(skb, fault);
    const struct net_device* dev = STAPGEN_READ(&skb->dev, fault);
    u32 bytes = STAPGEN_READ(&skb->len, fault);
    const unsigned char* header = STAPGEN_READ(&skb->data, fault);
    int came_by = stapgen_came_by(skb, fault), is_port;
    stapgen_read_device(skb, device, fault);
    if (*fault) return;
    is_port = stapgen_is_bridge_port(dev, fault);
    if (*fault || (came_by && stapgen_find_arrival(skb, head, header, fault))) return;
    /* The one before with that skb has gone a way that is not seen. */
    left = stapgen_find(stapgen_forwards, (unsigned long)skb);
    if (left) stapgen_erase(left, (unsigned long)skb);
    arrival = (struct stapgen_arrival*)stapgen_insert(stapgen_arrivals, (unsigned long)skb, STAPGEN_NOW(), &inserted);
    if (!arrival) return;
    arrival->head = head;
    arrival->id = stapgen_forward_id(skb, header, fault);
    arrival->ip = 0;
    arrival->device[0] = device[0];
    arrival->device[1] = device[1];
    arrival->bytes = bytes;
    arrival->is_port = is_port;
    arrival->is_wanted = is_wanted;
    stapgen_set_alias(stapgen_arrival_heads, head, (unsigned long)skb);
}
static inline void stapgen_forward_at_ip(const struct sk_buff* skb, const void** fault) {
    struct stapgen_arrival* arrival = stapgen_find_arrival_in_ip(skb, stapgen_head(skb, fault), fault);
    if (arrival && !*fault) arrival->ip = STAPGEN_NOW();
}

/* ---- those that are passed on ---- */

static inline struct stapgen_forwarded* stapgen_find_forwarded(unsigned long skb, unsigned long head) {
    struct stapgen_forwarded* packet = (struct stapgen_forwarded*)stapgen_find(stapgen_forwards, skb);
    unsigned long other = stapgen_head_by_alias(stapgen_forward_heads, head);
    struct stapgen_forwarded* by_head;
    if (packet && packet->head == head) return packet;
    by_head = (struct stapgen_forwarded*)stapgen_find(stapgen_forwards, other);
    if (by_head && by_head->head == head) return by_head;
    by_head =
        (struct stapgen_forwarded*)stapgen_find(stapgen_forwards, stapgen_head_by_alias(stapgen_forward_cuts, head));
    return by_head ? by_head : packet;
}
/* The one that an skb is on its way with; its head may have moved. */
static inline struct stapgen_forwarded* stapgen_follow_forwarded(const struct sk_buff* skb, const void** fault) {
    unsigned long head = stapgen_head(skb, fault);
    struct stapgen_forwarded* packet;
    struct stapgen_packet_id id;
    int is_piece;
    if (*fault) return NULL;
    packet = stapgen_find_forwarded((unsigned long)skb, head);
    if (!packet || !STAPGEN_IS_READABLE(skb, fault)) return NULL;
    /* A fragment that IP has made of another packet. In a queue a packet may have got a tunnel's header. */
    is_piece = packet->head != head && READ_ONCE(packet->at.key) != (unsigned long)skb;
    id = stapgen_forward_id(skb, stapgen_network_header_of(skb), fault);
    if (stapgen_is_known_to_differ(&packet->id, &id) && (id.ip & STAPGEN_ID_OF_FRAGMENT || !packet->queued ||
                                                         !stapgen_is_same_packet(&packet->id, skb, is_piece, fault)))
        return NULL;
    /* Another packet has that skb now: this machine's own. A tunnel, too, forgets what device a packet came by. */
    if (packet && !stapgen_came_by(skb, fault) && !(packet->queued && packet->head == head)) return NULL;
    if (packet && packet->head != head && READ_ONCE(packet->at.key) == (unsigned long)skb) {
        packet->head = head;
        stapgen_set_alias(stapgen_forward_heads, head, (unsigned long)skb);
    }
    return *fault ? NULL : packet;
}
/* An arrival is passed on: it is counted as seen. NULL: it is gone, or there is no place. */
static inline struct stapgen_forwarded* stapgen_begin_forward(const struct sk_buff* skb, unsigned long head,
                                                              struct stapgen_arrival* arrival, int how) {
    struct stapgen_arrival was;
    struct stapgen_forwarded* packet;
    enum stapgen_inserted inserted;
    unsigned long key;
    was = *arrival;
    key = was.at.key;
    if (!key || !stapgen_erase(&arrival->at, key)) return NULL;
    STAPGEN_ADD(forward_seen);
    packet = (struct stapgen_forwarded*)stapgen_insert(stapgen_forwards, (unsigned long)skb, STAPGEN_NOW(), &inserted);
    if (inserted == STAPGEN_EVICTED && (!packet || !packet->is_left_out)) STAPGEN_ADD(forward_evicted);
    if (!packet) return NULL;
    packet->head = head;
    packet->id = was.id;
    packet->driver = was.at.since;
    packet->ip = was.ip;
    packet->forward = packet->output = packet->finish = packet->queued = 0;
    packet->device[0] = was.device[0];
    packet->device[1] = was.device[1];
    packet->bytes = was.bytes;
    packet->how = how;
    packet->is_wanted = was.is_wanted;
    packet->is_left_out = 0;
    stapgen_set_alias(stapgen_forward_heads, head, (unsigned long)skb);
    return packet;
}
/* It is to be routed: whether it is followed. One whose hand-over was not seen is counted. */
static inline int stapgen_forward_at_route(const struct sk_buff* skb, const void** fault) {
    unsigned long head = stapgen_head(skb, fault);
    struct stapgen_arrival* arrival = stapgen_find_arrival_in_ip(skb, head, fault);
    struct stapgen_forwarded* packet;
    if (*fault) return 0;
    if (!arrival) {
        STAPGEN_ADD(forward_seen);
        STAPGEN_ADD(forward_no_driver);
        return 0;
    }
    packet = stapgen_begin_forward(skb, head, arrival, STAPGEN_ROUTED);
    if (packet) packet->forward = STAPGEN_NOW();
    return packet != NULL;
}
/* It leaves IP's FORWARD hook for its output; that ends. What a tunnel's device sends goes there once more. */
static inline void stapgen_forward_at_output(const struct sk_buff* skb, const void** fault) {
    struct stapgen_forwarded* packet = stapgen_follow_forwarded(skb, fault);
    if (packet && !packet->queued) packet->output = STAPGEN_NOW();
}
static inline void stapgen_forward_at_finish(const struct sk_buff* skb, const void** fault) {
    struct stapgen_forwarded* packet = stapgen_follow_forwarded(skb, fault);
    if (packet && !packet->queued) packet->finish = STAPGEN_NOW();
}

enum stapgen_at_queue {
    STAPGEN_NOT_FORWARDED,
    STAPGEN_FORWARDED,
    STAPGEN_NOT_ROUTED, /* and known to be forwarded from now on */
};
/* Whether what is handed to a device only passes it: an ifb hands it over again; and a copy that leaves before a bridge
 * or IP has the packet is tc's, of one that goes on (mirred). */
static inline int stapgen_is_passing(const struct sk_buff* skb, const struct stapgen_arrival* arrival,
                                     const void** fault) {
    if (stapgen_is_ifb(skb->dev, fault)) return 1;
    return !arrival->is_port && !arrival->ip && READ_ONCE(arrival->at.key) != (unsigned long)skb;
}
/* It is handed to a device, whose queue is the last one if there are several (bridge, then its port). */
static inline enum stapgen_at_queue stapgen_forward_at_queue(const struct sk_buff* skb, const void** fault) {
    struct stapgen_forwarded* packet = stapgen_follow_forwarded(skb, fault);
    struct stapgen_arrival* arrival;
    unsigned long head;
    int came_by;
    if (packet) {
        packet->queued = STAPGEN_NOW();
        return STAPGEN_FORWARDED;
    }
    head = stapgen_head(skb, fault);
    came_by = stapgen_came_by(skb, fault);
    if (*fault || !came_by) return STAPGEN_NOT_FORWARDED;
    arrival = stapgen_find_arrival_in_ip(skb, head, fault);
    /* A bridge floods it, and its first copy had been seen; or its hand-over had not; or it is a fragment. */
    if (!arrival) {
        STAPGEN_ADD(forward_copies);
        return STAPGEN_NOT_FORWARDED;
    }
    if (!STAPGEN_IS_READABLE(skb, fault) || stapgen_is_passing(skb, arrival, fault) || *fault)
        return STAPGEN_NOT_FORWARDED;
    packet = stapgen_begin_forward(skb, head, arrival,
                                   arrival->is_port && !arrival->ip ? STAPGEN_BRIDGED : STAPGEN_REDIRECTED);
    if (packet) packet->queued = STAPGEN_NOW();
    return packet ? STAPGEN_NOT_ROUTED : STAPGEN_NOT_FORWARDED;
}
static inline void stapgen_forward_has_wanted_device(const struct sk_buff* skb, const void** fault) {
    struct stapgen_forwarded* packet = stapgen_follow_forwarded(skb, fault);
    if (packet) packet->is_wanted = 1;
}
/* A filter leaves it out. It is followed anyway, so that it is not taken for another one. */
static inline void stapgen_forward_unwanted(const struct sk_buff* skb, const void** fault) {
    struct stapgen_forwarded* packet = stapgen_follow_forwarded(skb, fault);
    if (!packet) return;
    packet->is_left_out = 1;
    STAPGEN_ADD(forward_filtered);
}
/* IP cuts it into fragments, which are other packets. */
static inline void stapgen_forward_at_fragment(const struct sk_buff* skb, const void** fault) {
    struct stapgen_forwarded* packet = stapgen_follow_forwarded(skb, fault);
    unsigned long key = packet ? READ_ONCE(packet->at.key) : 0;
    if (key && stapgen_erase(&packet->at, key) && !packet->is_left_out) STAPGEN_ADD(forward_fragmented);
}
/* It was cut in software: the first of its pieces, or an error, which is a negative number near 0. */
static inline void stapgen_forward_cut(const struct sk_buff* skb, const struct sk_buff* piece, const void** fault) {
    struct stapgen_forwarded* packet = stapgen_follow_forwarded(skb, fault);
    unsigned long head;
    if (!packet || !piece || (unsigned long)piece >= -4096UL) return;
    head = stapgen_head(piece, fault);
    if (!*fault) stapgen_set_alias(stapgen_forward_cuts, head, READ_ONCE(packet->at.key));
}

/* The last driver gets it, or the first of its copies. NULL: it is not forwarded, or not wanted. NEEDS_DEVICE: only
 * those are that came or go by a wanted one. */
static inline const struct stapgen_forwarded* stapgen_pop_forwarded(const struct sk_buff* skb, int needs_device,
                                                                    const void** fault) {
    struct stapgen_forwarded *packet = stapgen_follow_forwarded(skb, fault), *left;
    unsigned long key;
    if (!packet || !packet->queued || stapgen_has_lower_device(skb, fault) || *fault) return NULL;
    left = STAPGEN_THIS_CPU(stapgen_forward_left);
    *left = *packet;
    key = left->at.key;
    stapgen_erase_alias(stapgen_forward_cuts, stapgen_head(skb, fault));
    if (!key || !stapgen_erase(&packet->at, key)) return NULL;
    if (left->is_left_out) return NULL;
    if (needs_device && !left->is_wanted) {
        STAPGEN_ADD(forward_filtered);
        return NULL;
    }
    STAPGEN_ADD(forward_reported);
    return left;
}
/* It is dropped: whether it was being forwarded. Of what comes from a bridge's port and has not entered IP a bridge has
 * dropped it. What others share goes on: it is a packet socket's copy, or one of those that a bridge floods. */
static inline int stapgen_forward_dropped(const struct sk_buff* skb, const void** fault) {
    unsigned long head = stapgen_head(skb, fault), key = (unsigned long)skb;
    struct stapgen_forwarded* packet;
    struct stapgen_arrival* arrival;
    if (*fault || !stapgen_came_by(skb, fault)) return 0;
    packet = stapgen_follow_forwarded(skb, fault);
    if (packet && READ_ONCE(packet->at.key) == key) {
        if (!stapgen_erase(&packet->at, key) || packet->is_left_out) return 0;
        STAPGEN_ADD(forward_dropped);
        return 1;
    }
    arrival = stapgen_find_arrival_in_ip(skb, head, fault);
    if (!arrival || !arrival->is_port || arrival->ip) return 0;
    if (!STAPGEN_IS_READABLE(skb, fault) || stapgen_shares_data(skb, fault) || *fault) return 0;
    key = READ_ONCE(arrival->at.key);
    if (!key || !stapgen_erase(&arrival->at, key)) return 0;
    STAPGEN_ADD(forward_seen);
    STAPGEN_ADD(forward_dropped);
    return 1;
}

/* ---- records ---- */

enum {
    STAPGEN_FORWARD_DRV_IP,
    STAPGEN_FORWARD_PREROUTING,
    STAPGEN_FORWARD_FORWARD,
    STAPGEN_FORWARD_POSTROUTING,
    STAPGEN_FORWARD_NEIGHBOUR,
    STAPGEN_FORWARD_BRIDGE,
    STAPGEN_FORWARD_QDISC,
    STAPGEN_FORWARD_STAGES
};
/* Between two places that were seen. */
static inline s64 stapgen_between(s64 from, s64 to) {
    return from && to >= from ? to - from : STAPGEN_NO_STAGE;
}
static inline void stapgen_forward_stages(const struct stapgen_forwarded* packet, s64 now, s64* stages) {
    stapgen_no_stages(stages, STAPGEN_FORWARD_STAGES);
    stages[STAPGEN_FORWARD_QDISC] = now - packet->queued;
    if (packet->how != STAPGEN_ROUTED) {
        stages[STAPGEN_FORWARD_BRIDGE] = stapgen_between(packet->driver, packet->queued);
        return;
    }
    /* A place that was not seen belongs to the stage behind it. */
    stages[STAPGEN_FORWARD_DRV_IP] = stapgen_between(packet->driver, packet->ip);
    stages[STAPGEN_FORWARD_PREROUTING] = stapgen_between(packet->ip ? packet->ip : packet->driver, packet->forward);
    stages[STAPGEN_FORWARD_FORWARD] = stapgen_between(packet->forward, packet->output);
    stages[STAPGEN_FORWARD_POSTROUTING] = stapgen_between(packet->output, packet->finish);
    stages[STAPGEN_FORWARD_NEIGHBOUR] = stapgen_between(packet->finish   ? packet->finish
                                                        : packet->output ? packet->output
                                                                         : packet->forward,
                                                        packet->queued);
}

#endif
