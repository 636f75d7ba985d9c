/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which hook, table and chain of netfilter drops a packet.
 *
 * Where the drop was says whether netfilter did it. nft_do_chain() frees what its chain drops (6.7, and stable kernels
 * that took it over), nf_queue() what a chain gives to a queue (NFQUEUE) where nobody listens: then that is the chain
 * which the packet has entered last. All else that a hook's functions drop
 * is freed behind them, by nf_hook_slow(): SELinux, NAT or a BPF program may have come behind a chain that accepted.
 * Then the chain counts only if nothing has happened in this context since a chain said to drop.
 *
 * A context is a thread, or the softirq in it: what runs there ends before it goes on, and nothing between a verdict
 * and its drop depends on the CPU. A chain that rejects sends a packet, whose own hooks come in between: therefore
 * chains are kept by packet, and verdicts by context. */
#ifndef STAPGEN_NETFILTER_H
#define STAPGEN_NETFILTER_H

#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/netfilter.h>
#include <linux/netfilter/x_tables.h>
#include <linux/sched.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 16, 0)
#include <net/netfilter/nf_tables.h>
#endif

#include "freeing.h"
#include "head_set.h"

/* A packet at a hook. That it has left it is not seen: the next one at any hook overwrites. */
struct stapgen_filtered {
    struct stapgen_place at; /* its skb; since: jiffies */
    const void* chain;       /* that it has entered last at this hook, an nft_chain or an xt_table; NULL: none */
    u8 is_table;             /* of iptables: an xt_table */
    u8 hook, family;         /* of that hook; 0: not seen */
};
STAPGEN_SET(stapgen_filtered_packets, stapgen_filtered, 10);

enum stapgen_verdict {
    STAPGEN_NO_VERDICT,
    STAPGEN_CHAIN_DROPS,
    STAPGEN_TABLE_FULL,    /* conntrack has no room for one more connection */
    STAPGEN_INSERT_FAILED, /* conntrack could not add one */
};
struct stapgen_verdict_place {
    struct stapgen_place at; /* the context; since: jiffies */
    u8 verdict;              /* what was said there last */
};
STAPGEN_SET(stapgen_verdicts, stapgen_verdict_place, 8);

/* Tasks lie at even addresses. */
static inline unsigned long stapgen_context(void) {
    return (unsigned long)current | !!in_serving_softirq();
}
/* What a function said that has returned here, or that a packet comes to a hook (STAPGEN_NO_VERDICT). */
static inline void stapgen_note_verdict(enum stapgen_verdict verdict) {
    enum stapgen_inserted inserted;
    unsigned long context = stapgen_context();
    struct stapgen_place* place = verdict ? stapgen_insert(stapgen_verdicts, context, (s64)jiffies, &inserted)
                                          : stapgen_find(stapgen_verdicts, context);
    if (!place) return;
    if (verdict)
        ((struct stapgen_verdict_place*)place)->verdict = verdict;
    else
        stapgen_erase(place, context);
}
static inline enum stapgen_verdict stapgen_take_verdict(void) {
    unsigned long context = stapgen_context();
    struct stapgen_place* place = stapgen_find(stapgen_verdicts, context);
    enum stapgen_verdict verdict = STAPGEN_NO_VERDICT;
    if (!place) return verdict;
    verdict = (enum stapgen_verdict)((struct stapgen_verdict_place*)place)->verdict;
    return stapgen_erase(place, context) ? verdict : STAPGEN_NO_VERDICT;
}

/* ---- hooks and chains ---- */

static inline struct stapgen_filtered* stapgen_filtered_packet(const struct sk_buff* skb) {
    enum stapgen_inserted inserted;
    struct stapgen_place* place = stapgen_insert(stapgen_filtered_packets, (unsigned long)skb, (s64)jiffies, &inserted);
    struct stapgen_filtered* packet = (struct stapgen_filtered*)place;
    if (packet && inserted != STAPGEN_WAS_THERE) packet->hook = packet->family = 0;
    return packet;
}
static inline void stapgen_comes_to_hook(const struct sk_buff* skb, u32 hook, u32 family) {
    struct stapgen_filtered* packet = stapgen_filtered_packet(skb);
    stapgen_note_verdict(STAPGEN_NO_VERDICT);
    if (!packet) return;
    packet->chain = NULL;
    packet->hook = (u8)hook;
    packet->family = (u8)family;
}
static inline void stapgen_enters_chain(const struct sk_buff* skb, const void* chain, int is_table) {
    struct stapgen_filtered* packet = stapgen_filtered_packet(skb);
    if (!packet) return;
    packet->chain = chain;
    packet->is_table = is_table;
}

/* ---- names ---- */

/* NFPROTO_*, which are not in all kernels. */
enum {
    STAPGEN_NF_INET = 1,
    STAPGEN_NF_IP = 2,
    STAPGEN_NF_ARP = 3,
    STAPGEN_NF_NETDEV = 5,
    STAPGEN_NF_BRIDGE = 7,
    STAPGEN_NF_IP6 = 10
};
/* What --netfilter prints: a table's or a chain's name is cut behind 63 bytes. */
enum { STAPGEN_NF_NAME = 64 };

static inline const char* stapgen_name_of_family(u32 family) {
    switch (family) {
        case STAPGEN_NF_INET:
            return "inet";
        case STAPGEN_NF_IP:
            return "ip";
        case STAPGEN_NF_ARP:
            return "arp";
        case STAPGEN_NF_NETDEV:
            return "netdev";
        case STAPGEN_NF_BRIDGE:
            return "bridge";
        case STAPGEN_NF_IP6:
            return "ip6";
        default:
            return "unknown";
    }
}
static inline const char* stapgen_name_of_hook(u32 family, u32 hook) {
    static const char* const of_arp[] = {"input", "output", "forward"};
    static const char* const of_netdev[] = {"ingress", "egress"};
    static const char* const others[] = {"prerouting", "input", "forward", "output", "postrouting", "ingress"};
    if (family == STAPGEN_NF_ARP) return hook < 3 ? of_arp[hook] : "unknown";
    if (family == STAPGEN_NF_NETDEV) return hook < 2 ? of_netdev[hook] : "unknown";
    return family && hook < 6 ? others[hook] : "unknown";
}
/* The chain of a table of iptables at a hook. */
static inline const char* stapgen_name_of_builtin_chain(u32 hook) {
    static const char* const names[] = {"PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"};
    return hook < 5 ? names[hook] : "unknown";
}
static inline void stapgen_write_hook(const struct stapgen_filtered* packet, const char* behind, char* to, int room) {
    scnprintf(to, room, "%s %s%s", stapgen_name_of_hook(packet->family, packet->hook),
              stapgen_name_of_family(packet->family), behind);
}
static inline void stapgen_write_table(const struct stapgen_filtered* packet, char* to, int room, const void** fault) {
    char name[STAPGEN_NF_NAME];
    const struct xt_table* table = (const struct xt_table*)packet->chain;
    stapgen_read_text(name, sizeof(name), table->name, fault);
    scnprintf(to, room, "%s %s %s %s", stapgen_name_of_hook(packet->family, packet->hook),
              packet->family == STAPGEN_NF_IP6 ? "ip6tables" : "iptables", name,
              packet->family ? stapgen_name_of_builtin_chain(packet->hook) : "unknown");
}
/* Its hook is the chain's own, which is known without a probe at the hook. */
static inline void stapgen_write_chain(const struct stapgen_filtered* packet, char* to, int room, const void** fault) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 16, 0)
    char table_name[STAPGEN_NF_NAME], name[STAPGEN_NF_NAME];
    const struct nft_chain* chain = (const struct nft_chain*)packet->chain;
    const struct nft_table* table = STAPGEN_READ(&chain->table, fault);
    u32 hook = STAPGEN_READ(&nft_base_chain(chain)->ops.hooknum, fault);
    if (*fault || !STAPGEN_IS_READABLE(table, fault)) return;
    stapgen_read_text(table_name, sizeof(table_name), table->name, fault);
    stapgen_read_text(name, sizeof(name), STAPGEN_READ(&chain->name, fault), fault);
    scnprintf(to, room, "%s %s %s %s", stapgen_name_of_hook(table->family, hook), stapgen_name_of_family(table->family),
              table_name, name);
#endif
}

/* ---- drops ---- */

/* Of a packet that is dropped there: into TO "input ip filter LAB-IN"; "" where it was not netfilter. */
static inline void stapgen_netfilter_of(const struct sk_buff* skb, unsigned long location, char* to, int room,
                                        const void** fault) {
    const enum stapgen_verdict verdict = stapgen_take_verdict();
    const enum stapgen_freeing freeing = stapgen_freeing_of(location);
    const struct stapgen_filtered* found;
    struct stapgen_filtered packet = {};
    *to = 0;
    if (freeing != STAPGEN_FREED_IN_CHAIN && freeing != STAPGEN_FREED_AT_HOOK &&
        (freeing != STAPGEN_MAYBE_FREED_AT_HOOK || !verdict))
        return;
    found = (const struct stapgen_filtered*)stapgen_find(stapgen_filtered_packets, (unsigned long)skb);
    if (found) {
        packet = *found;
        /* Another CPU may have given it to another packet. */
        if (READ_ONCE(found->at.key) != (unsigned long)skb) memset(&packet, 0, sizeof(packet));
    }
    scnprintf(to, room, "unknown");
    if (freeing == STAPGEN_FREED_IN_CHAIN || verdict == STAPGEN_CHAIN_DROPS) {
        if (!packet.chain) return;
        if (packet.is_table)
            stapgen_write_table(&packet, to, room, fault);
        else
            stapgen_write_chain(&packet, to, room, fault);
    } else if (packet.family) {
        stapgen_write_hook(&packet,
                           verdict == STAPGEN_TABLE_FULL      ? " conntrack table-full"
                           : verdict == STAPGEN_INSERT_FAILED ? " conntrack insert-failed"
                                                              : "",
                           to, room);
    }
}

#endif
