/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose packets are wanted: numbers that stapgen gives as the module is loaded, up to the first 0. */
#ifndef STAPGEN_OWNER_FILTER_H
#define STAPGEN_OWNER_FILTER_H

#include <linux/moduleparam.h>

#include "owner.h"

/* --netns: inodes of network namespaces. */
enum { STAPGEN_OWNER_ROOM = 64 };
/* How many numbers the array has that was given last: 0 where none was, and nothing is asked for. */
static unsigned int stapgen_owner_numbers;
static unsigned long stapgen_wanted_netns[STAPGEN_OWNER_ROOM] = {0};
module_param_array(stapgen_wanted_netns, ulong, &stapgen_owner_numbers, 0);
/* --cgroup, --container, --pod: cgroups with all below them, and the namespaces that only what is in these has, which
 * decide where no socket's cgroup is known. */
static unsigned long stapgen_wanted_cgroups[STAPGEN_OWNER_ROOM] = {0};
module_param_array(stapgen_wanted_cgroups, ulong, &stapgen_owner_numbers, 0);
static unsigned long stapgen_container_netns[STAPGEN_OWNER_ROOM] = {0};
module_param_array(stapgen_container_netns, ulong, &stapgen_owner_numbers, 0);

static inline int stapgen_has_owner_filter(void) {
    return stapgen_owner_numbers != 0;
}

static inline int stapgen_is_among(const unsigned long* numbers, u64 number) {
    u32 i;
    for (i = 0; i < STAPGEN_OWNER_ROOM && numbers[i]; i++)
        if (numbers[i] == number) return 1;
    return 0;
}
static inline int stapgen_is_wanted_netns(u32 netns) {
    return !stapgen_wanted_netns[0] || stapgen_is_among(stapgen_wanted_netns, netns);
}
static inline int stapgen_is_wanted_cgroup(const struct cgroup* cgroup) {
    enum { STAPGEN_CGROUP_LEVELS = 64 }; /* should they change in between */
    u32 i;
    for (i = 0; cgroup && i < STAPGEN_CGROUP_LEVELS; i++, cgroup = stapgen_parent_cgroup(cgroup))
        if (stapgen_is_among(stapgen_wanted_cgroups, stapgen_cgroup_id(cgroup))) return 1;
    return 0;
}
/* By the socket's cgroup, else by the namespace. Of the root's sockets some are the kernel's own in that namespace;
 * where no cgroup is asked for (version 1), all are the root's. */
static inline int stapgen_is_in_container(const struct sock* sk, u32 netns) {
    const struct cgroup* cgroup = stapgen_wanted_cgroups[0] ? stapgen_cgroup_of_sock(sk) : NULL;
    if (!stapgen_wanted_cgroups[0] && !stapgen_container_netns[0]) return 1;
    if (cgroup && !stapgen_parent_cgroup(cgroup) && !stapgen_is_of_program(sk)) cgroup = NULL;
    return cgroup ? stapgen_is_wanted_cgroup(cgroup) : stapgen_is_among(stapgen_container_netns, netns);
}

/* Of a socket, or a request for one. */
static inline int stapgen_is_wanted_sock(const struct sock* sk) {
    const u32 netns = stapgen_netns_of_sock(sk);
    return stapgen_is_wanted_netns(netns) && stapgen_is_in_container(sk, netns);
}
/* Of a packet, wherever it is. */
static inline int stapgen_is_wanted_packet_of(const struct sk_buff* skb) {
    const u32 netns = stapgen_netns_of_packet(skb);
    return stapgen_is_wanted_netns(netns) && stapgen_is_in_container(stapgen_sock_of(skb), netns);
}
/* Of a packet whose socket comes later: 0 if that cannot be a wanted one. A cgroup may have sockets in any namespace.
 */
static inline int stapgen_may_be_wanted(const struct sk_buff* skb) {
    const u32 netns = stapgen_netns_of_packet(skb);
    if (!netns) return 1;
    return stapgen_is_wanted_netns(netns) && (stapgen_wanted_cgroups[0] || !stapgen_container_netns[0] ||
                                              stapgen_is_among(stapgen_container_netns, netns));
}

#endif
