/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which end of a TCP connection a socket is, and what becomes of those that ask, for a recipe that follows both ends:
 * STAPGEN_BOTH_ENDS. Others have none of it. */
#ifndef STAPGEN_WHICH_END_H
#define STAPGEN_WHICH_END_H

#include <net/inet_sock.h>

#include "read.h"

struct stapgen_asker;
struct stapgen_for;
struct stapgen_rx_packet;
struct stapgen_socket_id;
struct stapgen_thread;

#ifndef STAPGEN_BOTH_ENDS
#define STAPGEN_BOTH_ENDS 0
#endif

/* 0: of each connection the lower one. A listener is a server. A host in the middle asks servers of another port. */
static int stapgen_server_port, stapgen_behind_port;

/* Of requests only those are printed whose first sequence number fits: both ends choose the same. */
static u32 stapgen_one_request_in = 1;

enum stapgen_end { STAPGEN_NO_END, STAPGEN_CLIENT, STAPGEN_SERVER };

static inline int stapgen_follows_ends(void) {
    return STAPGEN_BOTH_ENDS;
}
static inline int stapgen_is_servers(u16 port) {
    return port && (port == stapgen_server_port || port == stapgen_behind_port);
}
static inline enum stapgen_end stapgen_end_of(const struct sock* sk, const void** fault) {
    u16 local, remote;
    if (!stapgen_follows_ends()) return STAPGEN_NO_END;
    /* Not inet_num: socket_id.h. */
    local = ntohs(STAPGEN_READ(&inet_sk(sk)->inet_sport, fault));
    remote = ntohs(STAPGEN_READ(&inet_sk(sk)->inet_dport, fault));
    if (*fault) return STAPGEN_NO_END;
    if (!remote) return local && (!stapgen_server_port || stapgen_is_servers(local)) ? STAPGEN_SERVER : STAPGEN_NO_END;
    if (!stapgen_server_port) return local < remote ? STAPGEN_SERVER : STAPGEN_CLIENT;
    if (stapgen_is_servers(local)) return STAPGEN_SERVER;
    return stapgen_is_servers(remote) ? STAPGEN_CLIENT : STAPGEN_NO_END;
}

/* What becomes of those that ask: ask.h; of what either sends, and for whom a thread asks: print_end.h. */
#if STAPGEN_BOTH_ENDS
static inline void stapgen_question_is_asked(const struct sock* sk, const struct stapgen_for* of, const void** fault);
static inline void stapgen_question_is_answered(unsigned long sk, const struct stapgen_socket_id* id,
                                                const struct stapgen_rx_packet* packet, u32 seq, u32 ack);
static inline int stapgen_question_is_readable(unsigned long sk);
static inline int stapgen_question_is_read(unsigned long sk, const struct stapgen_thread* thread, int is_target,
                                           struct stapgen_asker* asker);
static inline void stapgen_question_ends(unsigned long sk);
static inline void stapgen_end_sends(const struct sk_buff* skb, const void** fault);
static inline void stapgen_thread_serves(unsigned long sk, struct stapgen_thread* thread, const void** fault);
static inline void stapgen_thread_replies(unsigned long sk, s64 reader);
static inline void stapgen_thread_asks(struct stapgen_for* of);
static inline void stapgen_thread_is_answered(unsigned long sk, struct stapgen_thread* thread,
                                              const struct stapgen_asker* asker);
#else
#define stapgen_question_is_asked(sk, of, fault) ((void)(of))
#define stapgen_question_is_answered(sk, id, packet, seq, ack) ((void)0)
#define stapgen_question_is_readable(sk) 0
#define stapgen_question_is_read(sk, thread, is_target, asker) 0
#define stapgen_question_ends(sk) ((void)0)
#define stapgen_end_sends(skb, fault) ((void)0)
#define stapgen_thread_serves(sk, thread, fault) ((void)0)
#define stapgen_thread_replies(sk, reader) ((void)(reader))
#define stapgen_thread_asks(of) ((void)(of))
#define stapgen_thread_is_answered(sk, thread, asker) ((void)(asker))
#endif

#endif
