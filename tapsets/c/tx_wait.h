/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which cause keeps a TCP socket's next byte from being sent. TCP tests them in tcp_write_xmit(), whose last act is
 * tcp_chrono_stop(sk, TCP_CHRONO_RWND_LIMITED) unless the receiver's window has stopped it: then its tests are repeated
 * here, as nothing has changed since. */
#ifndef STAPGEN_TX_WAIT_H
#define STAPGEN_TX_WAIT_H

#include "tx_call.h"
#include "tx_clock.h"

#if STAPGEN_TX_WAITS
static inline int stapgen_has_unsent(const struct tcp_sock* tp) {
    return tp->write_seq != tp->snd_nxt;
}
/* The last attempt has no end where the receiver's window has stopped it. Only where it is sure to be over. */
static inline void stapgen_end_attempt(struct stapgen_tx_clock* clock, const struct tcp_sock* tp) {
    if (!clock->is_trying) return;
    clock->is_trying = 0;
    if (tp->chrono_type < TCP_CHRONO_RWND_LIMITED)
        clock->state = STAPGEN_TX_WAIT_other; /* a probe of the MTU */
    else
        clock->state = clock->is_shut && !clock->has_sent ? STAPGEN_TX_WAIT_zero_window : STAPGEN_TX_WAIT_rwnd;
}

/* A call of this thread has the socket's lock. */
static inline void stapgen_tx_call_has_lock(const struct sock* sk, int is_wanted, const void** fault) {
    const struct tcp_sock* tp = tcp_sk(sk);
    const struct stapgen_call_of_thread* call = stapgen_pop_call_of_thread((unsigned long)sk);
    struct stapgen_tx_hands* hands = STAPGEN_THIS_CPU(stapgen_tx_hands);
    struct stapgen_tx_clock* clock;
    struct stapgen_socket_id id;
    int until_lock, has_unsent = 0;
    s64 now = STAPGEN_NOW(), called;
    hands->clock = 0;
    if (!STAPGEN_IS_READABLE(tp, fault)) return;
    id = stapgen_socket_id_of(sk, fault);
    if (*fault) return;
    clock = is_wanted ? stapgen_tx_clock_of((unsigned long)sk, &id, now) : stapgen_find_tx_clock((unsigned long)sk);
    if (clock) {
        has_unsent = stapgen_has_unsent(tp);
        stapgen_end_attempt(clock, tp);
        if (has_unsent &&
            clock->state == STAPGEN_TX_WAIT_send_call) /* the one before it has ended without an attempt */
            clock->state = STAPGEN_TX_WAIT_autocork;
        stapgen_tick(clock, now);
        if (!has_unsent) clock->state = STAPGEN_TX_WAIT_send_call;
        /* MSG_FASTOPEN connects in the call. */
        if (sk->sk_state == TCP_CLOSE || sk->sk_state == TCP_SYN_SENT || sk->sk_state == TCP_SYN_RECV)
            clock->state = STAPGEN_TX_WAIT_connect;
        clock->caller = (unsigned long)current;
    }
    if (!call) return; /* kTLS and others of the kernel */
    called = call->at.since;
    if (clock) {
        /* While it waited for the lock it has waited for nothing else. */
        until_lock = call->is_owned ? STAPGEN_TX_WAIT_socket_lock : STAPGEN_TX_WAIT_send_call;
        if (!has_unsent) {
            clock->begun = called;
            clock->hands.said = hands->at.said = 0;
            stapgen_add_wait(&clock->hands, until_lock, now - called);
        } else {
            stapgen_add_wait(&clock->hands, until_lock, 0);
            stapgen_copy_waits(&hands->at, &clock->hands);
            stapgen_add_wait(&hands->at, until_lock, called - now);
        }
        hands->clock = clock->begun;
    }
    stapgen_insert_tx_call_of(sk, is_wanted, called, fault);
}

/* TCP begins an attempt to send. */
static inline void stapgen_tx_attempt(const struct sock* sk, u32 mss, u32 nonagle, u32 push_one, const void** fault) {
    const struct tcp_sock* tp = tcp_sk(sk);
    struct stapgen_tx_clock* clock = stapgen_find_tx_clock((unsigned long)sk);
    if (!clock || !STAPGEN_IS_READABLE(tp, fault)) return;
    stapgen_end_attempt(clock, tp);
    if (clock->state == STAPGEN_TX_WAIT_send_call && (in_softirq() || clock->caller != (unsigned long)current))
        clock->state = STAPGEN_TX_WAIT_autocork;
    clock->state_before = clock->state;
    stapgen_tick(clock, STAPGEN_NOW());
    clock->state = STAPGEN_TX_WAIT_sending;
    clock->mss = mss;
    clock->nonagle = nonagle;
    clock->push_one = push_one;
    clock->is_shut = !tp->snd_wnd || !tp->packets_out;
    clock->has_sent = 0;
    clock->is_trying = 1;
}

static inline int stapgen_is_cwnd_full(const struct tcp_sock* tp) {
    return tp->packets_out - tp->sacked_out - tp->lost_out + tp->retrans_out >= tp->snd_cwnd;
}
static inline int stapgen_tx_wait_for_cwnd(const struct sock* sk) {
    return inet_csk(sk)->icsk_ca_state >= TCP_CA_Recovery ? STAPGEN_TX_WAIT_loss_recovery : STAPGEN_TX_WAIT_cwnd;
}
/* What the attempt that ends now leaves unsent waits for. */
static inline int stapgen_tx_reason(const struct sock* sk, const struct stapgen_tx_clock* clock,
                                    const struct sk_buff* skb) {
    const struct tcp_sock* tp = tcp_sk(sk);
    int is_last = (const struct sk_buff*)sk->sk_write_queue.prev == skb;
    u32 seq = TCP_SKB_CB(skb)->seq, nonagle = is_last ? clock->nonagle : (u32)TCP_NAGLE_PUSH;
    int has_tsq_flag = (sk->sk_tsq_flags & (1UL << TSQ_THROTTLED | 1UL << TSQ_QUEUED | 1UL << TCP_TSQ_DEFERRED)) != 0;
    unsigned long limit;
    if (clock->has_sent && clock->push_one) return clock->state_before; /* it was to send one only */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 20, 0) || STAPGEN_IS_EL(8, 4)
    if (sk->sk_pacing_status == SK_PACING_NEEDED && tp->tcp_wstamp_ns > tp->tcp_clock_cache)
        return STAPGEN_TX_WAIT_pacing;
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(4, 13, 0)
    if (sk->sk_pacing_status == SK_PACING_NEEDED && hrtimer_is_queued((struct hrtimer*)&tp->pacing_timer))
        return STAPGEN_TX_WAIT_pacing;
#endif
    if (clock->push_one != 2 && stapgen_is_cwnd_full(tp)) return stapgen_tx_wait_for_cwnd(sk);
    if (skb->len < clock->mss && !(nonagle & TCP_NAGLE_PUSH) && tp->snd_una == tp->snd_up &&
        !(TCP_SKB_CB(skb)->tcp_flags & TCPHDR_FIN)) {
        if (nonagle & TCP_NAGLE_CORK)
            return tp->nonagle & TCP_NAGLE_CORK ? STAPGEN_TX_WAIT_cork : STAPGEN_TX_WAIT_msg_more;
        if (!nonagle && tp->packets_out && stapgen_after(tp->snd_sml, tp->snd_una) &&
            !stapgen_after(tp->snd_sml, tp->snd_nxt))
            return STAPGEN_TX_WAIT_nagle;
    }
    if (clock->has_sent && clock->sent_seq == seq && tp->snd_nxt == seq) return STAPGEN_TX_WAIT_local_drop;
    limit = max_t(unsigned long, 2 * skb->truesize, sk->sk_pacing_rate >> sk->sk_pacing_shift);
    limit = min_t(unsigned long, limit, sock_net(sk)->ipv4.sysctl_tcp_limit_output_bytes);
    if (has_tsq_flag && refcount_read(&sk->sk_wmem_alloc) > limit) return STAPGEN_TX_WAIT_tsq;
    if (skb->len > clock->mss) return STAPGEN_TX_WAIT_tso_defer;
    /* The device may be done with what there was since. */
    return has_tsq_flag ? STAPGEN_TX_WAIT_tsq : STAPGEN_TX_WAIT_other;
}
/* All is sent, and a thread waits for room for more. */
static inline int stapgen_tx_reason_of_no_room(const struct sock* sk, const struct stapgen_tx_clock* clock) {
    return stapgen_is_cwnd_full(tcp_sk(sk)) ? stapgen_tx_wait_for_cwnd(sk) : clock->no_room;
}
/* All is sent; a thread may wait for room for more, or copy. */
static inline int stapgen_tx_reason_of_none(const struct sock* sk, const struct stapgen_tx_clock* clock) {
    const struct socket* socket = sk->sk_socket;
    if (!socket || !test_bit(SOCK_NOSPACE, &socket->flags)) return STAPGEN_TX_WAIT_send_call;
    return stapgen_tx_reason_of_no_room(sk, clock);
}
/* The attempt ends, and the receiver's window has not stopped it. */
static inline void stapgen_tx_attempt_ends(const struct sock* sk, const void** fault) {
    const struct tcp_sock* tp = tcp_sk(sk);
    struct stapgen_tx_clock* clock = stapgen_find_tx_clock((unsigned long)sk);
    const struct sk_buff* skb;
    int state;
    if (!clock || !STAPGEN_IS_READABLE(tp, fault)) return;
    skb = sk->sk_write_queue.next == (struct sk_buff*)&sk->sk_write_queue ? NULL : sk->sk_write_queue.next;
    if (skb && !STAPGEN_IS_READABLE(skb, fault)) return;
    if (!skb || TCP_SKB_CB(skb)->end_seq == TCP_SKB_CB(skb)->seq)
        state = stapgen_tx_reason_of_none(sk, clock);
    else
        state = stapgen_tx_reason(sk, clock, skb);
    clock->is_trying = 0;
    stapgen_tick(clock, STAPGEN_NOW());
    clock->state = state;
}
/* A thread begins to wait for room. What is unsent waits for something else; what it will write, for room from when all
 * is sent. */
static inline void stapgen_tx_waits_for_room(const struct sock* sk, const void** fault) {
    const struct tcp_sock* tp = tcp_sk(sk);
    struct stapgen_tx_clock* clock = stapgen_find_tx_clock((unsigned long)sk);
    u32 lowat;
    if (!clock || !STAPGEN_IS_READABLE(tp, fault)) return;
    stapgen_end_attempt(clock, tp);
    stapgen_tick(clock, STAPGEN_NOW());
    lowat = tp->notsent_lowat ? tp->notsent_lowat : sock_net(sk)->ipv4.sysctl_tcp_notsent_lowat;
    clock->no_room = sk->sk_wmem_queued >= sk->sk_sndbuf    ? STAPGEN_TX_WAIT_sndbuf
                     : tp->write_seq - tp->snd_nxt >= lowat ? STAPGEN_TX_WAIT_notsent_lowat
                                                            : STAPGEN_TX_WAIT_tcp_memory;
    if (!stapgen_has_unsent(tp)) clock->state = stapgen_tx_reason_of_no_room(sk, clock);
}

#endif

#endif
