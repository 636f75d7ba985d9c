/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of a recipe that follows both ends: which question is for which request; records of requests as the server sees them,
 * and of what either sends again. ask.h has the client's. */
#ifndef STAPGEN_PRINT_END_H
#define STAPGEN_PRINT_END_H

#include "ask.h"
#include "batch.h"
#include "request.h"
#include "streams.h"

/* For which request a question is asked: that of its thread's turn. Where that could be wrong nothing is said:
 * - Another thread works for the request, or it has its reply: it is looked up as the question begins, and is open and
 *   this thread's own.
 * - Several requests of one connection are in flight, or it goes on while it is worked for: more of it is read behind
 *   its first question. What is read before that is one request, at both of its ends.
 * - Several questions are in flight on a socket: more of one is sent in another turn, or before its reply is read.
 * - The program goes on with a request that it has laid aside (a loop of tasks, or calls that io_uring makes later):
 *   while the thread has such requests that are open, none of its questions is for one that is known.
 * - Tasks move between threads, or a pool shares them (Go, many Java servers): then a request is read by one thread and
 *   answered by another, or a question asked by one and its reply read by another. That is said of the process, and
 *   'stapgen between' believes none of its questions.
 * - The sample of --one-in has one in N questions, chosen at both ends: of none it is said.
 * Not seen: a task of a timer, of the program's own, or of another thread's request that goes on there, which asks in
 * the middle of a turn. */

enum { STAPGEN_ASKS_NOTHING, STAPGEN_ASKS, STAPGEN_IS_SEVERAL };

/* Processes that hand requests from thread to thread, by their number. */
STAPGEN_SET(stapgen_handing, stapgen_place, 6);

static inline void stapgen_hands_over(s64 thread) {
    STAPGEN_UNINITIALIZED struct stapgen_line line;
    enum stapgen_inserted inserted;
    s64 now = STAPGEN_NOW();
    if (!stapgen_insert(stapgen_handing, (unsigned long)(thread >> 32), now, &inserted)) return;
    if (inserted == STAPGEN_WAS_THERE) return;
    line.length = 0;
    stapgen_put_text(&line, "handed");
    stapgen_put_number(&line, now);
    stapgen_put_number(&line, thread >> 32);
    stapgen_print_record(&line);
}
/* The request that a socket has open, if this thread has read it; 0: none. Under the lock. */
static inline u32 stapgen_own_request(unsigned long sk) {
    u32 at = stapgen_read_request(sk);
    return at && stapgen_requests_rows[at].of.thread == stapgen_this_thread_of() ? at : 0;
}
static inline int stapgen_has_open(const struct stapgen_for* of) {
    int is_open;
    u32 at;
    stapgen_lock_queue(&stapgen_requests, of->sk);
    at = stapgen_read_request(of->sk);
    is_open = at && stapgen_requests_rows[at].of.seq == of->seq;
    stapgen_unlock_queue(&stapgen_requests, of->sk);
    return is_open;
}
/* Whether this thread still works for it. */
static inline int stapgen_asks_for(const struct stapgen_for* of) {
    int is_known = 0;
    u32 at;
    stapgen_lock_queue(&stapgen_requests, of->sk);
    at = stapgen_own_request(of->sk);
    if (at) {
        struct stapgen_request* request = &stapgen_requests_rows[at].of;
        is_known = request->seq == of->seq && request->asks != STAPGEN_IS_SEVERAL;
        if (is_known) request->asks = STAPGEN_ASKS;
    }
    stapgen_unlock_queue(&stapgen_requests, of->sk);
    return is_known;
}

/* ---- what happens ---- */

/* This thread has read from a server's socket. */
static inline void stapgen_thread_serves(unsigned long sk, struct stapgen_thread* thread, const void** fault) {
    struct stapgen_streams streams = stapgen_streams_of((struct sock*)sk, STAPGEN_SERVER, fault);
    struct stapgen_for of = {0, 0, 0};
    u32 at;
    if (*fault) return;
    stapgen_lock_queue(&stapgen_requests, sk);
    at = stapgen_own_request(sk);
    if (at && stapgen_requests_rows[at].of.asks) {
        stapgen_requests_rows[at].of.asks = STAPGEN_IS_SEVERAL;
    } else if (at && streams.is_known) {
        of.sk = sk;
        of.seq = stapgen_requests_rows[at].of.seq;
        of.stream = streams.sent;
    }
    stapgen_unlock_queue(&stapgen_requests, sk);
    stapgen_begin_turn(&thread->turn, &of, sk);
}
/* It replies to a request that was read by a thread. */
static inline void stapgen_thread_replies(unsigned long sk, s64 reader) {
    struct stapgen_thread* thread = (struct stapgen_thread*)stapgen_find(stapgen_threads, stapgen_this_thread_key());
    if (thread) {
        stapgen_end_turn(&thread->turn);
        stapgen_take_up(&thread->turn, sk);
    }
    if (reader != stapgen_this_thread_of()) stapgen_hands_over(reader);
}
/* It asks: for whom that is. */
static inline void stapgen_thread_asks(struct stapgen_for* of) {
    struct stapgen_thread* thread = (struct stapgen_thread*)stapgen_find(stapgen_threads, stapgen_this_thread_key());
    struct stapgen_turn* turn;
    int i;
    if (!thread || !thread->turn.of.sk || thread->turn.is_lost || stapgen_one_request_in > 1) return;
    turn = &thread->turn;
    for (i = 0; i < STAPGEN_LAID_ASIDE; i++) {
        if (!turn->aside[i].sk) continue;
        if (stapgen_has_open(&turn->aside[i])) return;
        turn->aside[i].sk = 0;
    }
    turn->has_acted = 1;
    if (stapgen_asks_for(&turn->of)) *of = turn->of;
}
/* It has read of the reply to a question. */
static inline void stapgen_thread_is_answered(unsigned long sk, struct stapgen_thread* thread,
                                              const struct stapgen_asker* asker) {
    stapgen_begin_turn(&thread->turn, &asker->of, sk);
    if (asker->of.sk && asker->thread != stapgen_this_thread_of()) stapgen_hands_over(asker->thread);
}

/* ---- records ---- */

/* The request whose answer a byte is of: whether it is known. */
static inline int stapgen_request_answered_at(unsigned long sk, u32 seq, u32* request) {
    int is_known = 0;
    u32 at;
    stapgen_lock_queue(&stapgen_requests, sk);
    at = stapgen_first_row(&stapgen_sockets, sk);
    if (at && stapgen_sockets_rows[at].of.answered_by) {
        *request = stapgen_sockets_rows[at].of.answered;
        is_known = !stapgen_after(stapgen_sockets_rows[at].of.answered_by, seq);
    }
    stapgen_unlock_queue(&stapgen_requests, sk);
    return is_known;
}
/* An end hands data of TCP to a device. Sent again is what is below snd_nxt, which is raised behind this. */
static inline void stapgen_end_sends(const struct sk_buff* skb, const void** fault) {
    unsigned long sk = (unsigned long)skb->sk;
    enum { STAPGEN_NEW_SYN_RECV = 12 }; /* of a request for a socket */
    STAPGEN_UNINITIALIZED struct stapgen_line line;
    enum stapgen_end end;
    long data = stapgen_tcp_payload_of(skb, fault);
    u32 seq, of;
    if (data <= 0 || STAPGEN_READ((const u8*)&skb->sk->__sk_common.skc_state, fault) == STAPGEN_NEW_SYN_RECV) return;
    end = stapgen_end_of(skb->sk, fault);
    if (end == STAPGEN_NO_END || *fault) return;
    seq = ntohl(STAPGEN_READ((const __be32*)(stapgen_transport_header_of(skb) + 4), fault));
    if (stapgen_after(seq + data, STAPGEN_READ(&tcp_sk(skb->sk)->snd_nxt, fault))) {
        if (end == STAPGEN_CLIENT && !*fault) stapgen_question_leaves(sk, seq + data);
        return;
    }
    if (*fault) return;
    if (end == STAPGEN_CLIENT ? !stapgen_question_of(sk, seq, &of) : !stapgen_request_answered_at(sk, seq, &of)) {
        STAPGEN_ADD(resent_of_none);
        return;
    }
    if (!stapgen_is_chosen(of)) return;
    line.length = 0;
    stapgen_put_text(&line, "resent");
    stapgen_put_number(&line, STAPGEN_NOW());
    stapgen_put_text(&line, end == STAPGEN_CLIENT ? "\tclient" : "\tserver");
    stapgen_put_ends_of(&line, skb->sk, fault);
    stapgen_put_number(&line, of);
    stapgen_put_number(&line, data);
    if (!*fault) stapgen_print_record(&line);
}
/* The one that was answered from this CPU last. */
static inline void stapgen_print_answered_end(const char* tag, const struct sk_buff* skb, s64 answered,
                                              const void** fault) {
    const struct stapgen_request* request = STAPGEN_THIS_CPU(stapgen_request_popped);
    s64 stages[STAPGEN_END_FIELDS], of_request[STAPGEN_RECORD_FIELDS];
    STAPGEN_UNINITIALIZED struct stapgen_line line;
    struct stapgen_streams streams;
    int i;
    if (!stapgen_is_chosen(request->seq)) {
        STAPGEN_ADD(request_not_chosen);
        return;
    }
    if (!STAPGEN_IS_READABLE(skb, fault)) return;
    stapgen_request_stages(request, answered, of_request);
    stapgen_no_stages(stages, STAPGEN_END_FIELDS);
    for (i = STAPGEN_SOCK_RX; i <= STAPGEN_SOCK_TX; i++)
        stages[STAPGEN_END_RX + i - STAPGEN_SOCK_RX] = of_request[i] < 0 ? STAPGEN_NO_STAGE : of_request[i];
    stages[STAPGEN_END_TOTAL] = of_request[STAPGEN_TOTAL];
    stages[STAPGEN_END_ARRIVING] = request->last - request->driver;
    if (stapgen_is_printed_briefly(answered, STAPGEN_SERVER, request->seq, request->reply_seq, stages)) return;
    streams = stapgen_streams_of(skb->sk, STAPGEN_SERVER, fault);
    stapgen_begin_line(&line, tag, answered, request->thread, request->comm);
    stapgen_put_text(&line, "\tserver");
    stapgen_put_ends_of(&line, skb->sk, fault);
    if (*fault) return;
    stapgen_put_name(&line, request->device);
    stapgen_put_numbers_of_end(&line, STAPGEN_SERVER, request->seq, request->reply_seq, &streams, NULL, stages);
}

#endif
