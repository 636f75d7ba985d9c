/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where on this host was lost what TCP sends again.
 *
 * What is dropped of TCP is kept by its connection: bytes by the one in which they are sent, and an acknowledgment by
 * the one whose bytes it is for. A packet's connection is that of the socket that sends it, as long as it has one, so
 * that NAT does not disturb it; else its addresses and ports. A segment that is sent again was lost where some of its
 * bytes were dropped since it was sent last; else its acknowledgment may have been.
 *
 * A segment that is sent again waits for two seconds before it is counted: then it is known whether the other end had
 * its bytes already, by a DSACK (RFC 2883), or by TCP's undoing of what it did about the loss. */
#ifndef STAPGEN_RESENT_H
#define STAPGEN_RESENT_H

#include "counters.h"
#include "queues.h"
#include "tcp_segment.h"

#if LINUX_VERSION_CODE < KERNEL_VERSION(4, 15, 0)
#error "where segments were lost is not known before Linux 4.15"
#endif

#ifndef STAPGEN_LOSSES
#define STAPGEN_LOSSES 16384
#endif
#ifndef STAPGEN_RESENT
#define STAPGEN_RESENT 16384
#endif
#define STAPGEN_RESENT_NS 2000000000LL

/* What was dropped; of an acknowledgment `end_seq` is what it acknowledges. */
struct stapgen_loss {
    s64 at;
    u32 seq, end_seq;
    unsigned long location;
    s32 reason;
    u32 is_ack;
};
STAPGEN_TABLE(stapgen_losses, stapgen_loss, STAPGEN_LOSSES);

#define STAPGEN_WHERE_LIST(where)                                                                   \
    where(not_here, "not-here") where(lost_here, "lost-here") where(ack_lost_here, "ack-lost-here") \
        where(needless, "needless")
#define STAPGEN_WHERE_NUMBER(name, text) STAPGEN_WHERE_##name,
enum stapgen_where { STAPGEN_WHERE_LIST(STAPGEN_WHERE_NUMBER) STAPGEN_WHERES };
#define STAPGEN_WHERE_NAME(name, text) text,
static const char* const stapgen_where_names[] = {STAPGEN_WHERE_LIST(STAPGEN_WHERE_NAME)};
struct stapgen_resent {
    s64 at;
    u32 seq, end_seq;
    u32 where; /* enum stapgen_where */
    s32 reason;
    unsigned long location;             /* 0: not lost here */
    char cause[16], remote[40], by[72]; /* an address has 33 bytes, three fields 63 */
};
STAPGEN_TABLE(stapgen_resent_segments, stapgen_resent, STAPGEN_RESENT);
/* What was taken out of it last on this CPU. */
STAPGEN_PER_CPU(struct stapgen_resent, stapgen_popped_resent);
/* The segment that is about to be sent again on this CPU, and when it was sent last. */
struct stapgen_resending {
    unsigned long skb;
    s64 sent;
};
STAPGEN_PER_CPU(struct stapgen_resending, stapgen_resending);

/* ---- what is dropped ---- */

static inline void stapgen_make_room_for_loss(s64 now) {
    const s64 minute = 60 * 1000000000LL;
    int list;
    u32 at;
    if (stapgen_has_free_row(&stapgen_losses)) return;
    at = stapgen_lock_oldest(&stapgen_losses, &list);
    if (!at) return;
    /* Later ones belong to connections that have ended, or given up. */
    if (now - stapgen_losses_rows[at].of.at < minute) STAPGEN_ADD(losses_evicted);
    stapgen_drop_row(&stapgen_losses, at);
    stapgen_unlock(&stapgen_losses.locks[list].lock);
}
static inline void stapgen_add_loss(unsigned long connection, const struct stapgen_loss* loss) {
    const struct stapgen_table* table = &stapgen_losses;
    u32 at;
    stapgen_make_room_for_loss(loss->at);
    if (!stapgen_has_free_row(table)) return;
    stapgen_lock_queue(table, connection);
    at = stapgen_add_row(table, connection, 0, loss->at);
    stapgen_losses_rows[at].of = *loss;
    stapgen_unlock_queue(table, connection);
}
static inline void stapgen_tcp_drops(const struct sk_buff* skb, unsigned long location, long reason,
                                     const void** fault) {
    struct stapgen_tcp_segment segment = {};
    struct stapgen_loss loss = {};
    unsigned long connection;
    if (!STAPGEN_IS_READABLE(skb, fault) || !stapgen_read_tcp_segment(skb, &segment, fault)) return;
    if (segment.flags & STAPGEN_RST || stapgen_is_no_loss(&segment, location, reason)) return;
    loss.at = STAPGEN_NOW();
    loss.location = location;
    loss.reason = (s32)reason;
    loss.seq = ntohl(STAPGEN_READ((const __be32*)(segment.tcp + 4), fault));
    loss.end_seq = loss.seq + segment.data + !!(segment.flags & STAPGEN_SYN) + !!(segment.flags & STAPGEN_FIN);
    /* What has come by a device may have the socket that it is for. */
    connection =
        skb->sk && !skb->skb_iif ? stapgen_connection_of_socket(skb->sk, fault) : stapgen_connection_from(&segment);
    if (!*fault && loss.end_seq != loss.seq) stapgen_add_loss(connection, &loss);
    if (!(segment.flags & STAPGEN_ACK)) return;
    loss.is_ack = 1;
    loss.end_seq = ntohl(STAPGEN_READ((const __be32*)(segment.tcp + 8), fault));
    if (!*fault) stapgen_add_loss(stapgen_connection_to(&segment), &loss);
}

/* ---- what is sent again ---- */

/* Until it is sent its skb says when that was last. */
static inline void stapgen_begins_to_resend(const struct sk_buff* skb, const void** fault) {
    struct stapgen_resending* resending = STAPGEN_THIS_CPU(stapgen_resending);
    if (!STAPGEN_IS_READABLE(skb, fault)) return;
    resending->skb = (unsigned long)skb;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 20, 0) || STAPGEN_IS_EL(8, 4)
    resending->sent = (s64)skb->skb_mstamp_ns;
#else
    resending->sent = (s64)skb->skb_mstamp * 1000;
#endif
}
/* What of a connection was dropped since it was sent last: the newest; of its bytes, else an acknowledgment of them. */
static inline u32 stapgen_find_loss(unsigned long connection, u32 seq, u32 end_seq, s64 sent) {
    u32 at, ack = 0;
    for (at = stapgen_last_row(&stapgen_losses, connection); at; at = stapgen_row_before(&stapgen_losses, at)) {
        const struct stapgen_loss* loss = &stapgen_losses_rows[at].of;
        if (loss->at < sent) break;
        if (!loss->is_ack && stapgen_after(end_seq, loss->seq) && stapgen_after(loss->end_seq, seq)) return at;
        if (loss->is_ack && !ack && !stapgen_after(end_seq, loss->end_seq)) ack = at;
    }
    return ack;
}
/* There is a free row. */
static inline void stapgen_add_resent(unsigned long connection, struct stapgen_resent* resent, s64 sent) {
    u32 at;
    if (stapgen_may_have(&stapgen_losses, connection)) {
        stapgen_lock_queue(&stapgen_losses, connection);
        at = stapgen_find_loss(connection, resent->seq, resent->end_seq, sent);
        if (at) {
            const struct stapgen_loss* loss = &stapgen_losses_rows[at].of;
            resent->where = loss->is_ack ? STAPGEN_WHERE_ack_lost_here : STAPGEN_WHERE_lost_here;
            resent->location = loss->location;
            resent->reason = loss->reason;
        }
        stapgen_unlock_queue(&stapgen_losses, connection);
    }
    stapgen_lock_queue(&stapgen_resent_segments, connection);
    at = stapgen_add_row(&stapgen_resent_segments, connection, 0, resent->at);
    stapgen_resent_segments_rows[at].of = *resent;
    stapgen_unlock_queue(&stapgen_resent_segments, connection);
}
/* Number I of N segments of an skb that was sent again, or a SYN-ACK (skb NULL) of a request: whether there was room.
 */
static inline int stapgen_note_resent(const struct sock* sk, const struct sk_buff* skb, int i, int n, const char* cause,
                                      const char* remote, const char* by, const void** fault) {
    const struct stapgen_resending* resending = STAPGEN_THIS_CPU(stapgen_resending);
    struct stapgen_resent resent = {};
    unsigned long connection = stapgen_connection_of_socket(sk, fault);
    u32 size;
    if (skb && !STAPGEN_IS_READABLE(skb, fault)) return 1;
    resent.seq = skb ? TCP_SKB_CB(skb)->seq : STAPGEN_READ(&tcp_rsk((struct request_sock*)sk)->snt_isn, fault);
    resent.end_seq = skb ? TCP_SKB_CB(skb)->end_seq : resent.seq + 1;
    if (*fault) return 1;
    if (!stapgen_has_free_row(&stapgen_resent_segments)) return 0;
    size = n > 1 ? TCP_SKB_CB(skb)->tcp_gso_size : 0;
    resent.seq += i * size;
    if (i + 1 < n) resent.end_seq = resent.seq + size;
    resent.at = STAPGEN_NOW();
    snprintf(resent.cause, sizeof(resent.cause), "%s", cause);
    snprintf(resent.remote, sizeof(resent.remote), "%s", remote);
    snprintf(resent.by, sizeof(resent.by), "%s", by);
    stapgen_add_resent(connection, &resent, skb && resending->skb == (unsigned long)skb ? resending->sent : 0);
    return 1;
}

/* The other end has these bytes more than once: the newest of what was sent again of each of them was needless. */
static inline void stapgen_tcp_had(unsigned long connection, u32 seq, u32 end_seq) {
    u32 at, first = end_seq;
    stapgen_lock_queue(&stapgen_resent_segments, connection);
    for (at = stapgen_last_row(&stapgen_resent_segments, connection); at;
         at = stapgen_row_before(&stapgen_resent_segments, at)) {
        struct stapgen_resent* resent = &stapgen_resent_segments_rows[at].of;
        if (stapgen_after(seq, resent->seq) || stapgen_after(resent->end_seq, first)) continue;
        if (resent->where != STAPGEN_WHERE_not_here) continue;
        resent->where = STAPGEN_WHERE_needless;
        first = resent->seq;
    }
    stapgen_unlock_queue(&stapgen_resent_segments, connection);
}
/* An acknowledgment with SACK blocks: the first of them may be of what has come twice (tcp_check_dsack()). */
static inline void stapgen_tcp_sacks(const struct sock* sk, const struct sk_buff* skb, const void** fault) {
    const unsigned char* option;
    unsigned long connection = stapgen_connection_of_socket(sk, fault);
    u32 seq, end_seq, ack;
    u8 size;
    if (*fault || !stapgen_may_have(&stapgen_resent_segments, connection) || !STAPGEN_IS_READABLE(skb, fault)) return;
    option = stapgen_transport_header_of(skb) + TCP_SKB_CB(skb)->sacked;
    ack = TCP_SKB_CB(skb)->ack_seq;
    size = STAPGEN_READ(option + 1, fault);
    seq = ntohl(STAPGEN_READ((const __be32*)(option + 2), fault));
    end_seq = ntohl(STAPGEN_READ((const __be32*)(option + 6), fault));
    if (*fault || size < 10) return;
    if (!stapgen_after(ack, seq)) {
        u32 second, second_end;
        if (size < 18) return;
        second = ntohl(STAPGEN_READ((const __be32*)(option + 10), fault));
        second_end = ntohl(STAPGEN_READ((const __be32*)(option + 14), fault));
        if (*fault || stapgen_after(second, seq) || stapgen_after(end_seq, second_end)) return;
    }
    stapgen_tcp_had(connection, seq, end_seq);
}
/* TCP takes back what it did about a loss: there was none. */
static inline void stapgen_tcp_undoes(const struct sock* sk, const void** fault) {
    unsigned long connection = stapgen_connection_of_socket(sk, fault);
    u32 marker = STAPGEN_READ(&tcp_sk(sk)->undo_marker, fault), at;
    if (*fault || !marker || !stapgen_may_have(&stapgen_resent_segments, connection)) return;
    stapgen_lock_queue(&stapgen_resent_segments, connection);
    for (at = stapgen_last_row(&stapgen_resent_segments, connection); at;
         at = stapgen_row_before(&stapgen_resent_segments, at)) {
        struct stapgen_resent* resent = &stapgen_resent_segments_rows[at].of;
        if (!stapgen_after(marker, resent->seq) && resent->where == STAPGEN_WHERE_not_here)
            resent->where = STAPGEN_WHERE_needless;
    }
    stapgen_unlock_queue(&stapgen_resent_segments, connection);
}

/* Takes the oldest out if it came before UNTIL; NULL: there is none. */
static inline const struct stapgen_resent* stapgen_pop_resent(s64 until) {
    const struct stapgen_resent* popped = NULL;
    int list;
    u32 at = stapgen_lock_oldest(&stapgen_resent_segments, &list);
    if (!at) return NULL;
    if (stapgen_resent_segments_rows[at].of.at <= until) {
        *STAPGEN_THIS_CPU(stapgen_popped_resent) = stapgen_resent_segments_rows[at].of;
        popped = STAPGEN_THIS_CPU(stapgen_popped_resent);
        stapgen_drop_row(&stapgen_resent_segments, at);
    }
    stapgen_unlock(&stapgen_resent_segments.locks[list].lock);
    return popped;
}

#endif
