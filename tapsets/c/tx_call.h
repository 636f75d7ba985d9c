/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Send calls. Those of a TCP socket wait, oldest first, for the segments that will carry their bytes: TCP may send
 * these long after the call, from softirq. Sequence numbers say which call it was: the newest that begins at or
 * before the segment. That of a datagram is the one in which its thread is. */
#ifndef STAPGEN_TX_CALL_H
#define STAPGEN_TX_CALL_H

#include "head_set.h"
#include "queues.h"
#include "socket_id.h"
#include "socket_kind.h"
#include "tx_clock.h"

#ifndef STAPGEN_TX_CALLS
#define STAPGEN_TX_CALLS 16384
#endif

struct stapgen_tx_call {
    struct stapgen_socket_id id;
    u32 seq;     /* of its first byte */
    s64 called;  /* ns */
    s64 thread;  /* below its process; 0: not a wanted one, whose bytes must be kept apart from the wanted ones' */
    u64 comm[2]; /* the thread's name */
};
STAPGEN_TABLE(stapgen_tx_calls, stapgen_tx_call, STAPGEN_TX_CALLS);
/* Where the hands of its socket's clock were as each began, and when that clock began; 0: it has none. */
struct stapgen_tx_hands {
    s64 clock;
    struct stapgen_waits at;
};
static struct stapgen_tx_hands stapgen_tx_calls_hands[STAPGEN_TX_CALLS + 1]; /* by the call's row */
STAPGEN_PER_CPU(struct stapgen_tx_hands, stapgen_tx_hands);                  /* of the call found or begun last */

static inline void stapgen_copy_tx_hands(struct stapgen_tx_hands* to, const struct stapgen_tx_hands* from) {
    to->clock = from->clock;
    stapgen_copy_waits(&to->at, &from->at);
}

static inline void stapgen_drop_tx_calls(unsigned long sk) {
    u32 at;
    while ((at = stapgen_first_row(&stapgen_tx_calls, sk)) != 0)
        stapgen_drop_row(&stapgen_tx_calls, at);
}
static inline void stapgen_drop_calls_of_others(unsigned long sk, const struct stapgen_socket_id* id) {
    u32 at = stapgen_last_row(&stapgen_tx_calls, sk);
    if (at && !stapgen_is_same_socket(&stapgen_tx_calls_rows[at].of.id, id)) stapgen_drop_tx_calls(sk);
}
/* A call of this thread that began then. One of an unwanted thread is kept only where the socket has calls. Where the
 * table is full the oldest is forgotten without a word: of its segments there is no call then. */
static inline void stapgen_insert_tx_call_of(const struct sock* sk, int is_wanted, s64 called, const void** fault) {
    const struct stapgen_table* table = &stapgen_tx_calls;
    struct stapgen_tx_call call;
    int has_room;
    u32 at;
    if (!is_wanted && !stapgen_may_have(table, (unsigned long)sk)) return;
    call.id = stapgen_socket_id_of(sk, fault);
    call.seq = STAPGEN_READ(&tcp_sk(sk)->write_seq, fault);
    if (*fault) return;
    has_room = stapgen_evict_if_full(table) >= 0;
    call.called = called;
    call.thread = is_wanted ? stapgen_this_thread_of() : 0;
    memcpy(call.comm, current->comm, sizeof(call.comm));
    stapgen_lock_queue(table, (unsigned long)sk);
    stapgen_drop_calls_of_others((unsigned long)sk, &call.id);
    /* Its bytes must not be taken for those of the call before it. */
    if (!has_room) {
        stapgen_drop_tx_calls((unsigned long)sk);
    } else if (is_wanted || stapgen_last_row(table, (unsigned long)sk)) {
        at = stapgen_add_row(table, (unsigned long)sk, 0, call.called);
        stapgen_tx_calls_rows[at].of = call;
        if (STAPGEN_TX_WAITS) stapgen_copy_tx_hands(&stapgen_tx_calls_hands[at], STAPGEN_THIS_CPU(stapgen_tx_hands));
    }
    stapgen_unlock_queue(table, (unsigned long)sk);
}
/* One begins. */
static inline void stapgen_insert_tx_call(const struct sock* sk, int is_wanted, const void** fault) {
    stapgen_insert_tx_call_of(sk, is_wanted, STAPGEN_NOW(), fault);
}

enum stapgen_caller {
    STAPGEN_NO_CALLS,     /* none of this socket's is known */
    STAPGEN_NO_SUCH_CALL, /* only others */
    STAPGEN_CALL_FOUND,
};
/* The call that wrote the byte of that number. Those whose bytes are sent are forgotten, but for the newest that began
 * at or before it. */
static inline enum stapgen_caller stapgen_find_tx_call(unsigned long sk, const struct stapgen_socket_id* id, u32 seq,
                                                       struct stapgen_tx_call* call) {
    const struct stapgen_table* table = &stapgen_tx_calls;
    enum stapgen_caller caller = STAPGEN_NO_CALLS;
    u32 at, next;
    if (!stapgen_may_have(table, sk)) return caller;
    stapgen_lock_queue(table, sk);
    stapgen_drop_calls_of_others(sk, id);
    at = stapgen_first_row(table, sk);
    if (at) caller = STAPGEN_NO_SUCH_CALL;
    while (at && (next = stapgen_next_row(table, at)) != 0 && !stapgen_after(stapgen_tx_calls_rows[next].of.seq, seq)) {
        stapgen_drop_row(table, at);
        at = next;
    }
    if (at && !stapgen_after(stapgen_tx_calls_rows[at].of.seq, seq)) {
        caller = STAPGEN_CALL_FOUND;
        *call = stapgen_tx_calls_rows[at].of;
        if (STAPGEN_TX_WAITS) stapgen_copy_tx_hands(STAPGEN_THIS_CPU(stapgen_tx_hands), &stapgen_tx_calls_hands[at]);
    }
    stapgen_unlock_queue(table, sk);
    return caller;
}
/* The connection begins with that sequence number: that of the newest call, which asked for it. */
static inline void stapgen_begin_tx_calls(unsigned long sk, u32 seq) {
    const struct stapgen_table* table = &stapgen_tx_calls;
    u32 at;
    if (!stapgen_may_have(table, sk)) return;
    stapgen_lock_queue(table, sk);
    at = stapgen_last_row(table, sk);
    if (at) stapgen_tx_calls_rows[at].of.seq = seq;
    stapgen_unlock_queue(table, sk);
}
static inline void stapgen_erase_tx_calls(unsigned long sk) {
    stapgen_erase_tx_clock(sk);
    if (!stapgen_may_have(&stapgen_tx_calls, sk)) return;
    stapgen_lock_queue(&stapgen_tx_calls, sk);
    stapgen_drop_tx_calls(sk);
    stapgen_unlock_queue(&stapgen_tx_calls, sk);
}

/* ---- by the thread: of a datagram, and of a TCP socket until the call has its lock ---- */

struct stapgen_call_of_thread {
    struct stapgen_place at; /* key: stapgen_thread_key(); since: when it began */
    unsigned long sk;
    int is_owned; /* the socket was another thread's then */
};
STAPGEN_SET(stapgen_calls_of_threads, stapgen_call_of_thread, STAPGEN_THREAD_BITS);

static inline void stapgen_insert_call_of_thread(unsigned long sk, int is_owned) {
    enum stapgen_inserted inserted;
    struct stapgen_call_of_thread* call = (struct stapgen_call_of_thread*)stapgen_insert(
        stapgen_calls_of_threads, stapgen_this_thread_key(), STAPGEN_NOW(), &inserted);
    if (!call) return;
    call->sk = sk;
    call->is_owned = is_owned;
}
/* This thread's call on that socket, which ends its part. NULL: there is none. */
static inline const struct stapgen_call_of_thread* stapgen_pop_call_of_thread(unsigned long sk) {
    unsigned long key = stapgen_this_thread_key();
    struct stapgen_place* call = stapgen_find(stapgen_calls_of_threads, key);
    if (!call || ((struct stapgen_call_of_thread*)call)->sk != sk) return NULL;
    return stapgen_erase(call, key) ? (struct stapgen_call_of_thread*)call : NULL;
}
/* A send call of this thread begins: whether it is TCP's. One of UDP is noted. */
static inline int stapgen_begins_tcp_call(const struct sock* sk, const void** fault) {
    int protocol = stapgen_protocol_of(sk, fault);
    if (stapgen_is_udp(protocol)) stapgen_insert_call_of_thread((unsigned long)sk, 0);
    return protocol == IPPROTO_TCP;
}
/* It is TCP's. Until it has the socket's lock, others may write before it: where that is probed it waits until then. */
static inline void stapgen_begin_tx_call(const struct sock* sk, int is_wanted, const void** fault) {
    if (STAPGEN_TX_WAITS)
        stapgen_insert_call_of_thread((unsigned long)sk, STAPGEN_READ(&sk->sk_lock.owned, fault) != 0);
    else
        stapgen_insert_tx_call(sk, is_wanted, fault);
}
/* When the call began that has made this datagram, which ends its part. 0: it is ICMP's or a raw socket's, or was sent
 * by a softirq that has interrupted the call. */
static inline s64 stapgen_pop_datagram_call(const struct sk_buff* skb, const void** fault) {
    unsigned long sk = (unsigned long)STAPGEN_READ(&skb->sk, fault);
    const struct stapgen_call_of_thread* call = *fault ? NULL : stapgen_pop_call_of_thread(sk);
    return call ? READ_ONCE(call->at.since) : 0;
}

#endif
