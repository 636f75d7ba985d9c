/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which end of a TCP connection a socket is, and what becomes of those that ask, for a recipe that follows both ends:
 * STAPGEN_BOTH_ENDS. Others have none of it. */
#ifndef STAPGEN_WHICH_END_H
#define STAPGEN_WHICH_END_H

#include <net/inet_sock.h>

#include "read.h"

struct stapgen_rx_packet;
struct stapgen_socket_id;
struct stapgen_thread;

#ifndef STAPGEN_BOTH_ENDS
#define STAPGEN_BOTH_ENDS 0
#endif

/* 0: of each connection the lower one. A listener is a server. */
static int stapgen_server_port;

enum stapgen_end { STAPGEN_NO_END, STAPGEN_CLIENT, STAPGEN_SERVER };

static inline int stapgen_follows_ends(void) {
    return STAPGEN_BOTH_ENDS;
}
static inline enum stapgen_end stapgen_end_of(const struct sock* sk, const void** fault) {
    u16 local, remote;
    if (!stapgen_follows_ends()) return STAPGEN_NO_END;
    /* Not inet_num: socket_id.h. */
    local = ntohs(STAPGEN_READ(&inet_sk(sk)->inet_sport, fault));
    remote = ntohs(STAPGEN_READ(&inet_sk(sk)->inet_dport, fault));
    if (*fault) return STAPGEN_NO_END;
    if (!remote)
        return local && (!stapgen_server_port || local == stapgen_server_port) ? STAPGEN_SERVER : STAPGEN_NO_END;
    if (!stapgen_server_port) return local < remote ? STAPGEN_SERVER : STAPGEN_CLIENT;
    if (local == stapgen_server_port) return STAPGEN_SERVER;
    return remote == stapgen_server_port ? STAPGEN_CLIENT : STAPGEN_NO_END;
}

/* What becomes of those that ask: ask.h; and of what either sends: print_end.h. */
#if STAPGEN_BOTH_ENDS
static inline void stapgen_question_is_asked(const struct sock* sk, const void** fault);
static inline void stapgen_question_is_answered(unsigned long sk, const struct stapgen_socket_id* id,
                                                const struct stapgen_rx_packet* packet, u32 seq, u32 ack);
static inline int stapgen_question_is_readable(unsigned long sk);
static inline int stapgen_question_is_read(unsigned long sk, const struct stapgen_thread* thread, int is_target);
static inline void stapgen_question_ends(unsigned long sk);
static inline void stapgen_end_sends(const struct sk_buff* skb, const void** fault);
#else
#define stapgen_question_is_asked(sk, fault) ((void)0)
#define stapgen_question_is_answered(sk, id, packet, seq, ack) ((void)0)
#define stapgen_question_is_readable(sk) 0
#define stapgen_question_is_read(sk, thread, is_target) 0
#define stapgen_question_ends(sk) ((void)0)
#define stapgen_end_sends(skb, fault) ((void)0)
#endif

#endif
