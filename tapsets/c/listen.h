/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two queues of a listening socket, as the kernel itself asks for them: what it compares has changed more than
 * once. */
#ifndef STAPGEN_LISTEN_H
#define STAPGEN_LISTEN_H

#include <net/inet_connection_sock.h>

#include "read.h"

/* Connections that nobody has accepted yet. */
static inline s64 stapgen_accept_queue_length(const struct sock* sk, const void** fault) {
    return STAPGEN_IS_READABLE(sk, fault) ? sk->sk_ack_backlog : 0;
}
/* SYNs that were answered, and whose handshakes are not over. */
static inline s64 stapgen_syn_queue_length(const struct sock* sk, const void** fault) {
    return STAPGEN_IS_READABLE(inet_csk(sk), fault) ? inet_csk_reqsk_queue_len(sk) : 0;
}
/* The limit of both. */
static inline s64 stapgen_queue_limit(const struct sock* sk, const void** fault) {
    return STAPGEN_IS_READABLE(sk, fault) ? sk->sk_max_ack_backlog : 0;
}

static inline int stapgen_is_accept_queue_full(const struct sock* sk, const void** fault) {
    return STAPGEN_IS_READABLE(sk, fault) && sk_acceptq_is_full(sk);
}
/* Whether a SYN is dropped for that. */
static inline int stapgen_drops_syn_for_accept_queue(const struct sock* sk, const void** fault) {
    if (!stapgen_is_accept_queue_full(sk, fault)) return 0;
#if LINUX_VERSION_CODE < KERNEL_VERSION(4, 10, 0)
    return STAPGEN_IS_READABLE(inet_csk(sk), fault) && inet_csk_reqsk_queue_young(sk) > 1;
#else
    return 1;
#endif
}
static inline int stapgen_is_syn_queue_full(const struct sock* sk, const void** fault) {
    return STAPGEN_IS_READABLE(inet_csk(sk), fault) && inet_csk_reqsk_queue_is_full(sk);
}

#endif
