/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A ledger of what reaches this machine by any device but loopback, in packets of the wire: what GRO has merged counts
 * as many as it was. Each packet is counted where it arrives, and where its way ends: at a protocol's handler, at the
 * driver of another device, or where it is dropped. What of that does not add up has gone a way that is not seen.
 *
 * A packet that came from outside is known by the number of the device it came by (skb_iif), which it has from its
 * hand-over to its end; what this machine sends has none. Frames to several hosts (one may have many ends), what is not
 * IP, and fragments (many have one end) are counted where they arrive, and not followed; nor is what IP makes of
 * fragments. One that IP cuts into fragments is followed up to there. */
#ifndef STAPGEN_LEDGER_H
#define STAPGEN_LEDGER_H

#include <linux/if_packet.h>
#include <linux/ipv6.h>
#include <net/ip.h>
#include <net/rtnetlink.h>

#include "forward.h"
#include "freeing.h"
#include "packet_kind.h"

enum { STAPGEN_LEDGER_ROWS = 48 /* of devices; further ones share the last one */ };
/* Why a packet is not followed; it is; or it is a copy of what this machine sends to several hosts. */
enum { STAPGEN_TO_SEVERAL, STAPGEN_NOT_IP, STAPGEN_FRAGMENT, STAPGEN_NOT_LEFT_OUT, STAPGEN_OWN_COPY };
/* The protocols that packets end at. Not IPsec's: what it takes out goes on. */
enum { STAPGEN_TCP, STAPGEN_UDP, STAPGEN_ICMP, STAPGEN_OTHER_PROTOCOL, STAPGEN_PROTOCOLS };

/* What is counted, and of what. */
enum {
    STAPGEN_RECEIVED,     /* of devices: handed over, and followed */
    STAPGEN_PASSED_ON,    /* of devices: given to their driver */
    STAPGEN_UNFOLLOWED,   /* of reasons */
    STAPGEN_REACHED,      /* of protocols */
    STAPGEN_LISTEN_QUEUE, /* of the queues of listening sockets that had no room, and said nothing: SYN, accept */
    STAPGEN_IN_QDISC, /* one number: those in the queue of a device that is to pass them on; below 0: more were there
                         at the start */
    STAPGEN_HANDED,   /* of devices: all that was handed over, in packets of the driver */
    STAPGEN_LEDGER_ENTRIES,
};
struct stapgen_ledger {
    u64 of[STAPGEN_LEDGER_ENTRIES][STAPGEN_LEDGER_ROWS];
    unsigned long on_top; /* the skb that is counted as passed on, and may be dropped or queued yet: a device on top
                             of others has got it, or IP cuts it */
    unsigned long turned_away; /* the skb that found a listening socket's queue full */
    u8 on_top_row, turned_away_by;
};
STAPGEN_PER_CPU(struct stapgen_ledger, stapgen_ledger);

/* A network card has a row of its own; of virtual devices those of one kind share one. */
struct stapgen_ledger_device {
    const void* key; /* the device, or what makes devices of its kind */
    char name[16];
};
static struct stapgen_ledger_device stapgen_ledger_devices[STAPGEN_LEDGER_ROWS];

static inline void stapgen_ledger_add(int entry, int row, s64 n) {
    u64* count = &STAPGEN_THIS_CPU(stapgen_ledger)->of[entry][row];
    WRITE_ONCE(*count, *count + (u64)n);
}
static inline s64 stapgen_ledger_sum(int entry, int row) {
    u64 sum = 0;
    int cpu;
    for_each_possible_cpu(cpu) sum += READ_ONCE(STAPGEN_OF_CPU(stapgen_ledger, cpu)->of[entry][row]);
    return (s64)sum;
}

/* ---- devices ---- */

/* The row of a device that can be read. */
static inline int stapgen_ledger_row(const struct net_device* dev, const void** fault) {
    const struct rtnl_link_ops* kind = dev->rtnl_link_ops;
    int is_card = dev->dev.parent != NULL, row;
    const void* key = is_card ? (const void*)dev : kind ? (const void*)kind : (const void*)stapgen_ledger_devices;
    for (row = 0; row < STAPGEN_LEDGER_ROWS - 1; row++) {
        struct stapgen_ledger_device* device = &stapgen_ledger_devices[row];
        const void* there = READ_ONCE(device->key);
        if (!there) there = cmpxchg(&device->key, NULL, key);
        if (there == key) break;
        if (there) continue;
        stapgen_read_text(device->name, sizeof(device->name),
                          is_card ? dev->name
                          : kind  ? STAPGEN_READ(&kind->kind, fault)
                                  : "virtual",
                          fault);
        break;
    }
    return row;
}
static inline const char* stapgen_ledger_device_name(int row) {
    return row == STAPGEN_LEDGER_ROWS - 1 ? "others" : stapgen_ledger_devices[row].name;
}
/* Of the device that has the packet now; -1: it has none. */
static inline int stapgen_ledger_row_of(const struct sk_buff* skb, const void** fault) {
    return skb->dev && STAPGEN_IS_READABLE(skb->dev, fault) ? stapgen_ledger_row(skb->dev, fault) : -1;
}

/* ---- packets ---- */

/* In packets of the wire; what a virtual machine's host has not cut is one. */
static inline u32 stapgen_ledger_weight(const struct sk_buff* skb, const void** fault) {
    u32 segments = STAPGEN_READ(&skb_shinfo(skb)->gso_segs, fault);
    if (!segments || STAPGEN_READ(&skb_shinfo(skb)->gso_type, fault) & SKB_GSO_DODGY) return 1;
    return segments;
}
static inline int stapgen_ledger_leaves_out(const struct sk_buff* skb, const struct stapgen_packet_kind* kind) {
    if (skb->pkt_type == PACKET_LOOPBACK) return STAPGEN_OWN_COPY;
    if (skb->pkt_type == PACKET_BROADCAST || skb->pkt_type == PACKET_MULTICAST) return STAPGEN_TO_SEVERAL;
    if (kind->type != ETH_P_IP && kind->type != ETH_P_IPV6) return STAPGEN_NOT_IP;
    return kind->is_fragment ? STAPGEN_FRAGMENT : STAPGEN_NOT_LEFT_OUT;
}
/* As it is handed over, behind its Ethernet header. */
static inline int stapgen_ledger_leaves_out_arrival(const struct sk_buff* skb, const void** fault) {
    struct stapgen_packet_kind kind;
    stapgen_packet_kind_at(skb, skb->data, &kind, fault);
    return stapgen_ledger_leaves_out(skb, &kind);
}
/* Of a packet behind its hand-over: whether it came from outside and is followed. */
static inline int stapgen_ledger_follows(const struct sk_buff* skb, struct stapgen_packet_kind* kind,
                                         const void** fault) {
    if (!STAPGEN_IS_READABLE(skb, fault) || stapgen_came_by(skb, fault) <= LOOPBACK_IFINDEX) return 0;
    stapgen_packet_kind_of(skb, kind, fault);
    return stapgen_ledger_leaves_out(skb, kind) == STAPGEN_NOT_LEFT_OUT;
}
static inline int stapgen_ledger_protocol(int protocol) {
    enum { STAPGEN_ESP = 50, STAPGEN_AH = 51, STAPGEN_IPCOMP = 108 };
    if (protocol == IPPROTO_TCP) return STAPGEN_TCP;
    if (protocol == IPPROTO_UDP) return STAPGEN_UDP;
    if (protocol == STAPGEN_ESP || protocol == STAPGEN_AH || protocol == STAPGEN_IPCOMP) return STAPGEN_PROTOCOLS;
    return protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6 ? STAPGEN_ICMP : STAPGEN_OTHER_PROTOCOL;
}

/* How far it has come. */
enum {
    STAPGEN_NOT_OF_LEDGER,
    STAPGEN_IN_BACKLOG, /* the input queue of a CPU, before the hand-over */
    STAPGEN_BEFORE_PROTOCOL,
    STAPGEN_ON_WAY_OUT,
    STAPGEN_AT_PROTOCOL, /* and more: stapgen_ledger_protocol() */
};
static inline int stapgen_ledger_step_of(const struct sk_buff* skb, const struct stapgen_packet_kind* kind) {
    const unsigned char *ip = stapgen_network_header_of(skb), *transport = stapgen_transport_header_of(skb);
    int protocol = stapgen_ledger_protocol(kind->protocol);
    if (skb->data < ip) return STAPGEN_ON_WAY_OUT;
    if (skb->data < transport || transport <= ip || protocol == STAPGEN_PROTOCOLS) return STAPGEN_BEFORE_PROTOCOL;
    return STAPGEN_AT_PROTOCOL + protocol;
}
/* Whether TCP has put its own control block in the place of IP's. */
static inline int stapgen_has_tcp_block(const struct sk_buff* skb, const struct stapgen_packet_kind* kind,
                                        const void** fault) {
    const unsigned char* tcp = stapgen_transport_header_of(skb);
    return kind->protocol == IPPROTO_TCP && tcp >= skb->head && tcp + 8 <= stapgen_linear_end(skb) &&
           TCP_SKB_CB(skb)->seq == stapgen_read_be32(tcp + 4, fault);
}
/* Whether IP has made it of fragments, which were not followed: its control block says so, and TCP keeps that. What is
 * before its protocol may be before IP, and have another block, which does not begin with the number of a device. On
 * the way out there is none, and such a packet is cut again. */
static inline int stapgen_is_reassembled(const struct sk_buff* skb, const struct stapgen_packet_kind* kind, int step,
                                         const void** fault) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(3, 7, 0)
    enum { STAPGEN_SMALLEST_FRAGMENT = 28, STAPGEN_IP6_NEXT_HEADER = 6 };
    const int is_tcps = stapgen_has_tcp_block(skb, kind, fault);
    if (step == STAPGEN_ON_WAY_OUT) return 0;
#if IS_ENABLED(CONFIG_IPV6)
    if (kind->type == ETH_P_IPV6) {
        const struct inet6_skb_parm* ip6 = is_tcps ? &TCP_SKB_CB(skb)->header.h6 : IP6CB(skb);
        if (step == STAPGEN_BEFORE_PROTOCOL && (ip6->iif <= 0 || ip6->nhoff < STAPGEN_IP6_NEXT_HEADER)) return 0;
        return ip6->frag_max_size >= STAPGEN_SMALLEST_FRAGMENT;
    }
#endif
    {
        const struct inet_skb_parm* ip4 = is_tcps ? &TCP_SKB_CB(skb)->header.h4 : IPCB(skb);
        if (step == STAPGEN_BEFORE_PROTOCOL && ip4->iif != stapgen_came_by(skb, fault)) return 0;
        return ip4->frag_max_size >= STAPGEN_SMALLEST_FRAGMENT;
    }
#else
    return 0;
#endif
}

/* ---- what happens to them ---- */

/* A packet arrives: counted once, though a bridge, a tunnel or tc may hand it over again. */
static inline void stapgen_ledger_arrives(const struct sk_buff* skb, const void** fault) {
    struct stapgen_ledger* ledger = STAPGEN_THIS_CPU(stapgen_ledger);
    int row, left_out;
    u32 weight;
    if (!STAPGEN_IS_READABLE(skb, fault) || stapgen_came_by(skb, fault)) return;
    row = stapgen_ledger_row_of(skb, fault);
    if (*fault || row < 0 || skb->dev->flags & IFF_LOOPBACK) return;
    /* What was there has ended: another skb may have its place. */
    ledger->on_top = ledger->turned_away = 0;
    weight = stapgen_ledger_weight(skb, fault);
    left_out = stapgen_ledger_leaves_out_arrival(skb, fault);
    if (left_out == STAPGEN_OWN_COPY) return;
    stapgen_ledger_add(STAPGEN_HANDED, row, weight);
    if (left_out == STAPGEN_NOT_LEFT_OUT)
        stapgen_ledger_add(STAPGEN_RECEIVED, row, weight);
    else
        stapgen_ledger_add(STAPGEN_UNFOLLOWED, left_out, weight);
}
/* A protocol's handler gets it; of IPv6 the first one, which may be that of an extension header. */
static inline void stapgen_ledger_reaches(const struct sk_buff* skb, const void** fault) {
    struct stapgen_packet_kind kind;
    int protocol;
    if (!stapgen_ledger_follows(skb, &kind, fault)) return;
    protocol = stapgen_ledger_protocol(kind.protocol);
    if (protocol == STAPGEN_PROTOCOLS || stapgen_is_reassembled(skb, &kind, STAPGEN_AT_PROTOCOL + protocol, fault))
        return;
    stapgen_ledger_add(STAPGEN_REACHED, protocol, stapgen_ledger_weight(skb, fault));
}
/* A listening socket has no room for a SYN, or for the end of a handshake. */
static inline void stapgen_ledger_turns_away(const struct sk_buff* skb, int queue, const void** fault) {
    struct stapgen_ledger* ledger = STAPGEN_THIS_CPU(stapgen_ledger);
    struct stapgen_packet_kind kind;
    if (!stapgen_ledger_follows(skb, &kind, fault) || stapgen_is_reassembled(skb, &kind, STAPGEN_AT_PROTOCOL, fault))
        return;
    ledger->turned_away = (unsigned long)skb;
    ledger->turned_away_by = (u8)queue;
    stapgen_ledger_add(STAPGEN_LISTEN_QUEUE, queue, 1);
}
/* A device's queue gets it. If that is below another device, that one's driver was not the last. */
static inline void stapgen_ledger_is_queued(const struct sk_buff* skb, const void** fault) {
    struct stapgen_ledger* ledger = STAPGEN_THIS_CPU(stapgen_ledger);
    struct stapgen_packet_kind kind;
    int is_below = ledger->on_top == (unsigned long)skb;
    u32 weight;
    ledger->on_top = 0;
    if (!stapgen_ledger_follows(skb, &kind, fault)) return;
    weight = stapgen_ledger_weight(skb, fault);
    if (is_below) stapgen_ledger_add(STAPGEN_PASSED_ON, ledger->on_top_row, -(s64)weight);
    stapgen_ledger_add(STAPGEN_IN_QDISC, 0, weight);
}
static inline void stapgen_ledger_passes_on(const struct sk_buff* skb, int row, s64 weight, int may_end_otherwise) {
    struct stapgen_ledger* ledger = STAPGEN_THIS_CPU(stapgen_ledger);
    stapgen_ledger_add(STAPGEN_PASSED_ON, row, weight);
    if (!may_end_otherwise) return;
    ledger->on_top = (unsigned long)skb;
    ledger->on_top_row = (u8)row;
}
/* IP cuts it for its device into fragments, which are not followed. */
static inline void stapgen_ledger_is_cut(const struct sk_buff* skb, const void** fault) {
    struct stapgen_packet_kind kind;
    int row;
    if (!stapgen_ledger_follows(skb, &kind, fault) ||
        stapgen_is_reassembled(skb, &kind, STAPGEN_BEFORE_PROTOCOL, fault))
        return;
    row = stapgen_ledger_row_of(skb, fault);
    if (!*fault && row >= 0) stapgen_ledger_passes_on(skb, row, stapgen_ledger_weight(skb, fault), 1);
}
/* A device's driver gets it. */
static inline void stapgen_ledger_leaves(const struct sk_buff* skb, const void** fault) {
    struct stapgen_packet_kind kind;
    u32 weight;
    int row;
    if (!stapgen_ledger_follows(skb, &kind, fault)) return;
    weight = stapgen_ledger_weight(skb, fault);
    row = stapgen_ledger_row_of(skb, fault);
    if (*fault || row < 0) return;
    stapgen_ledger_add(STAPGEN_IN_QDISC, 0, -(s64)weight);
    /* This one hands it to where it was on its way, or to another device. */
    if (stapgen_begins_with(stapgen_ledger_device_name(row), "ifb")) return;
    stapgen_ledger_passes_on(skb, row, weight, stapgen_has_lower_device(skb, fault));
}

/* Where it is dropped. */
struct stapgen_ledger_drop {
    int step;
    u32 weight;
};
/* It was not handed over, and counts as if it had been. */
static inline void stapgen_ledger_drops_in_backlog(const struct sk_buff* skb, struct stapgen_ledger_drop* drop,
                                                   const void** fault) {
    int row;
    if (stapgen_came_by(skb, fault)) return;
    row = stapgen_ledger_row_of(skb, fault);
    if (*fault || row < 0 || skb->dev->flags & IFF_LOOPBACK) return;
    stapgen_ledger_arrives(skb, fault);
    if (*fault || stapgen_ledger_leaves_out_arrival(skb, fault) != STAPGEN_NOT_LEFT_OUT) return;
    drop->step = STAPGEN_IN_BACKLOG;
    drop->weight = stapgen_ledger_weight(skb, fault);
}
static inline struct stapgen_ledger_drop stapgen_ledger_drops(const struct sk_buff* skb, unsigned long location,
                                                              const void** fault) {
    struct stapgen_ledger* ledger = STAPGEN_THIS_CPU(stapgen_ledger);
    struct stapgen_ledger_drop drop = {STAPGEN_NOT_OF_LEDGER, 0};
    struct stapgen_packet_kind kind;
    const enum stapgen_freeing freeing = stapgen_freeing_of(location);
    int step;
    if (freeing == STAPGEN_FREED_COPY || !STAPGEN_IS_READABLE(skb, fault)) return drop;
    if (freeing == STAPGEN_FREED_IN_BACKLOG) {
        stapgen_ledger_drops_in_backlog(skb, &drop, fault);
        return drop;
    }
    if (!stapgen_ledger_follows(skb, &kind, fault)) return drop;
    /* What a packet socket had not read when it was closed is a copy, too. */
    if (skb->sk && STAPGEN_READ(&skb->sk->__sk_common.skc_family, fault) == AF_PACKET) return drop;
    step = stapgen_ledger_step_of(skb, &kind);
    if (stapgen_is_reassembled(skb, &kind, step, fault) || *fault) return drop;
    drop.step = step;
    drop.weight = stapgen_ledger_weight(skb, fault);
    if (drop.step == STAPGEN_ON_WAY_OUT) stapgen_ledger_add(STAPGEN_IN_QDISC, 0, -(s64)drop.weight);
    if (ledger->on_top == (unsigned long)skb)
        stapgen_ledger_add(STAPGEN_PASSED_ON, ledger->on_top_row, -(s64)drop.weight);
    /* Of some the kernel says it itself. */
    if (ledger->turned_away == (unsigned long)skb) stapgen_ledger_add(STAPGEN_LISTEN_QUEUE, ledger->turned_away_by, -1);
    ledger->on_top = ledger->turned_away = 0;
    return drop;
}

#endif
