/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose a packet or a socket is: its network namespace, by the inode of /proc/PID/ns/net, and the cgroup (version 2) in
 * which its socket was made.
 *
 * skb->dev and skb->sk share their memory with other things while a packet is in a socket's or a device's queue, or is
 * put together. What they point to is read as what may be anything, and believed only if it looks right. */
#ifndef STAPGEN_OWNER_H
#define STAPGEN_OWNER_H

#include <linux/cgroup.h>
#include <net/net_namespace.h>
#include <net/request_sock.h>

#include "read.h"

/* No inode of a namespace is below it: the first of /proc's own, but for those of the first namespaces. */
#define STAPGEN_FIRST_NAMESPACE 0xeffffff0U

/* 0 where it cannot be read, which is no fault. */
#define STAPGEN_TRY_READ(p)                                       \
    ({                                                            \
        const void* _unreadable = NULL;                           \
        __typeof__(*(p)) _read = STAPGEN_READ((p), &_unreadable); \
        _unreadable ? (__typeof__(*(p)))0 : _read;                \
    })
/* A pointer of that type that stands there. */
#define STAPGEN_TRY_POINTER(type, place) STAPGEN_TRY_READ((const type* const*)(place))

/* The inode; 0: it is no network namespace. */
static inline u32 stapgen_netns_of(const struct net* net) {
    const struct net_device* loopback;
    u32 inode;
    if ((unsigned long)net < PAGE_OFFSET) return 0;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(3, 19, 0)
    inode = STAPGEN_TRY_READ(&net->ns.inum);
#else
    inode = STAPGEN_TRY_READ(&net->proc_inum);
#endif
    if (inode < STAPGEN_FIRST_NAMESPACE) return 0;
    loopback = STAPGEN_TRY_POINTER(struct net_device, &net->loopback_dev);
    if ((unsigned long)loopback < PAGE_OFFSET) return 0;
    return STAPGEN_TRY_POINTER(struct net, &loopback->nd_net) == net ? inode : 0;
}
static inline u32 stapgen_netns_of_sock(const struct sock* sk) {
    if ((unsigned long)sk < PAGE_OFFSET) return 0;
    return stapgen_netns_of(STAPGEN_TRY_POINTER(struct net, &sk->__sk_common.skc_net));
}
/* Its socket, which may be one for a request; NULL: there is none. */
static inline const struct sock* stapgen_sock_of(const struct sk_buff* skb) {
    const struct sock* sk = STAPGEN_TRY_POINTER(struct sock, &skb->sk);
    return stapgen_netns_of_sock(sk) ? sk : NULL;
}
/* Its device, if the namespace is known; else NULL. */
static inline const struct net_device* stapgen_device_of(const struct sk_buff* skb) {
    const struct net_device* dev = STAPGEN_TRY_POINTER(struct net_device, &skb->dev);
    if ((unsigned long)dev < PAGE_OFFSET) return NULL;
    return stapgen_netns_of(STAPGEN_TRY_POINTER(struct net, &dev->nd_net)) ? dev : NULL;
}
/* Of its device, else of its socket. */
static inline u32 stapgen_netns_of_packet(const struct sk_buff* skb) {
    const struct net_device* dev = stapgen_device_of(skb);
    if (dev) return stapgen_netns_of(STAPGEN_TRY_POINTER(struct net, &dev->nd_net));
    return stapgen_netns_of_sock(stapgen_sock_of(skb));
}

/* The cgroup of a socket, of a request for one that of the listener; NULL: it is not known, or no more (TIME_WAIT). */
static inline const struct cgroup* stapgen_cgroup_of_sock(const struct sock* sk) {
#if defined(CONFIG_SOCK_CGROUP_DATA) && LINUX_VERSION_CODE >= KERNEL_VERSION(4, 5, 0)
    enum { STAPGEN_TIME_WAIT = 6, STAPGEN_NEW_SYN_RECV = 12 };
    struct sock_cgroup_data data;
    const void* unreadable = NULL;
    u64 first;
    if (!stapgen_netns_of_sock(sk)) return NULL;
    if (STAPGEN_TRY_READ((const u8*)&sk->__sk_common.skc_state) == STAPGEN_NEW_SYN_RECV) {
        sk = STAPGEN_TRY_POINTER(struct sock, &((const struct request_sock*)sk)->rsk_listener);
        if (!stapgen_netns_of_sock(sk)) return NULL;
    }
    if (STAPGEN_TRY_READ((const u8*)&sk->__sk_common.skc_state) == STAPGEN_TIME_WAIT) return NULL;
    memset(&data, 0, sizeof(data));
    first = stapgen_read(&sk->sk_cgrp_data, sizeof(first), &unreadable);
    memcpy(&data, &first, sizeof(first));
    return first ? sock_cgroup_ptr(&data) : NULL;
#else
    return NULL;
#endif
}
/* Whether a program made it, or a request for one: the kernel makes some in a namespace for itself. */
static inline int stapgen_is_of_program(const struct sock* sk) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 2, 0)
    enum { STAPGEN_NEW_SYN_RECV = 12 };
    const void* unreadable = NULL;
    if (STAPGEN_TRY_READ((const u8*)&sk->__sk_common.skc_state) == STAPGEN_NEW_SYN_RECV) return 1;
    return STAPGEN_IS_READABLE(sk, &unreadable) && sk->sk_net_refcnt;
#else
    return 0;
#endif
}
/* That in which it is; NULL: it is the root. */
static inline const struct cgroup* stapgen_parent_cgroup(const struct cgroup* cgroup) {
    const struct cgroup_subsys_state* parent;
    if ((unsigned long)cgroup < PAGE_OFFSET) return NULL;
    parent = STAPGEN_TRY_POINTER(struct cgroup_subsys_state, &cgroup->self.parent);
    return parent ? container_of(parent, struct cgroup, self) : NULL;
}
/* The inode of its folder (before 5.5 of 32 bits); 0: that cannot be read. */
static inline u64 stapgen_cgroup_id(const struct cgroup* cgroup) {
    const struct kernfs_node* node;
    if ((unsigned long)cgroup < PAGE_OFFSET) return 0;
    node = STAPGEN_TRY_POINTER(struct kernfs_node, &cgroup->kn);
    if ((unsigned long)node < PAGE_OFFSET) return 0;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 5, 0) || STAPGEN_IS_EL(8, 4)
    return STAPGEN_TRY_READ(&node->id);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(4, 14, 0)
    return STAPGEN_TRY_READ(&node->id.ino);
#else
    return STAPGEN_TRY_READ(&node->ino);
#endif
}
/* Of a socket; 0: it is not known. The root has all that no process has made, and on a host with cgroups of version 1
 * all there are: it is as good as not known. */
static inline u64 stapgen_cgroup_id_of_sock(const struct sock* sk) {
    const struct cgroup* cgroup = stapgen_cgroup_of_sock(sk);
    return stapgen_parent_cgroup(cgroup) ? stapgen_cgroup_id(cgroup) : 0;
}

#endif
