/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of a recipe that follows both ends: of requests as the server sees them, and of what either sends again.
 * ask.h has the client's. */
#ifndef STAPGEN_PRINT_END_H
#define STAPGEN_PRINT_END_H

#include "ask.h"
#include "asked_for.h"
#include "request.h"

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
