/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the socket at an address is still the one that was there: the end of a connection may be missed (a skipped
 * probe), and the next one gets its memory. By its cookie, which the kernel gives a socket when it is first asked for
 * it, and its ports. */
#ifndef STAPGEN_SOCKET_ID_H
#define STAPGEN_SOCKET_ID_H

#include <net/inet_sock.h>

#include "read.h"

struct stapgen_socket_id {
    u64 cookie; /* 0: nobody has asked, or this kernel has none */
    u32 ports;  /* 0: not known */
};

static inline struct stapgen_socket_id stapgen_socket_id_of(const struct sock* sk, const void** fault) {
    struct stapgen_socket_id id = {0, 0};
#ifdef sk_cookie
    id.cookie = STAPGEN_READ((const u64*)&sk->sk_cookie, fault);
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(2, 6, 33)
    /* The peer's is 0 until it is connected. Not inet_num: a closed connection, which a thread may still read, has
     * given its port back. */
    u16 peer = (__force u16)STAPGEN_READ(&inet_sk(sk)->inet_dport, fault);
    if (peer) id.ports = (u32)peer << 16 | (__force u16)STAPGEN_READ(&inet_sk(sk)->inet_sport, fault);
#endif
    return id;
}
static inline int stapgen_is_same_socket(const struct stapgen_socket_id* a, const struct stapgen_socket_id* b) {
    if (a->cookie && b->cookie && a->cookie != b->cookie) return 0;
    return !a->ports || !b->ports || a->ports == b->ports;
}

#endif
