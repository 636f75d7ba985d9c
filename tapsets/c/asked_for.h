/* SPDX-License-Identifier: GPL-2.0-or-later */
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
#ifndef STAPGEN_ASKED_FOR_H
#define STAPGEN_ASKED_FOR_H

#include "batch.h"
#include "request.h"
#include "streams.h"

#if STAPGEN_BOTH_ENDS
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
#endif

#endif
