/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a socket is used for. */
#ifndef STAPGEN_SOCKET_KIND_H
#define STAPGEN_SOCKET_KIND_H

#include <linux/in.h>

#include "read.h"
#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 17, 0) && (defined(CONFIG_TLS) || defined(CONFIG_TLS_MODULE))
#define STAPGEN_HAS_TLS 1
#include <net/tls.h>
#endif

/* IPPROTO_TCP, ...; a bit field before 5.6. */
static inline int stapgen_protocol_of(const struct sock* sk, const void** fault) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 6, 0)
    return STAPGEN_READ(&sk->sk_protocol, fault);
#else
    return STAPGEN_IS_READABLE(sk, fault) ? sk->sk_protocol : 0;
#endif
}
static inline int stapgen_is_udp(int protocol) {
    return protocol == IPPROTO_UDP || protocol == IPPROTO_UDPLITE;
}
/* Whether it is a subflow of MPTCP: programs have another socket. */
static inline int stapgen_is_mptcp(const struct sock* sk, const void** fault) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 6, 0) && defined(CONFIG_MPTCP)
    return STAPGEN_READ(&tcp_sk(sk)->is_mptcp, fault);
#else
    return 0;
#endif
}
/* Whether the kernel decrypts what programs read from it: then they read records and not segments. */
static inline int stapgen_reads_tls(const struct sock* sk, const void** fault) {
#ifdef STAPGEN_HAS_TLS
    const struct tls_context* tls;
    const struct tcp_ulp_ops* ulp = STAPGEN_READ(&inet_csk(sk)->icsk_ulp_ops, fault);
    if (!ulp || (STAPGEN_READ((const u32*)&ulp->name[0], fault) & 0xffffff) != 0x736c74) return 0; /* "tls" */
    tls = (const struct tls_context*)STAPGEN_READ(&inet_csk(sk)->icsk_ulp_data, fault);
    return STAPGEN_IS_READABLE(tls, fault) && tls->rx_conf != TLS_BASE;
#else
    return 0;
#endif
}

#endif
