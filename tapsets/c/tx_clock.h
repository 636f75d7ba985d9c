/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the bytes of a TCP socket wait for: a clock for each socket, which has one hand for each cause. At any moment it
 * is one cause (causes.h) that keeps the socket's next byte from being sent, and bytes are sent in order: so a segment
 * waited for each cause as long as that hand moved between its call and its transmission. That adds up to app-tcp.
 *
 * Where a call finds all earlier bytes sent, which is the rule, its hands begin at 0. Else it keeps where they were.
 *
 * All but the call's beginning happens under the socket's own lock, so that a clock is moved by one CPU at a time. */
#ifndef STAPGEN_TX_CLOCK_H
#define STAPGEN_TX_CLOCK_H

#include "head_set.h"
#include "socket_id.h"
#include "waits.h"

#ifndef STAPGEN_CLOCK_BITS
#define STAPGEN_CLOCK_BITS 12
#endif

struct stapgen_tx_clock {
    struct stapgen_place at; /* key: the socket. since: when its newest call began */
    struct stapgen_socket_id id;
    s64 begun;  /* at 0; of another socket, or before, it is another number: ns */
    s64 ticked; /* until then the hands are right */
    struct stapgen_waits hands;
    unsigned long caller; /* the thread of the newest call */
    u32 sent_seq;         /* of what was sent last */
    /* The attempt to send (tcp_write_xmit), and its arguments. */
    u32 mss, nonagle, push_one;
    u8 state, state_before; /* enum stapgen_tx_wait; the latter before the attempt */
    u8 no_room;             /* why a thread that waited for room last found none: likewise */
    u8 is_trying;           /* its end was not seen */
    u8 has_sent;            /* it */
    u8 is_shut;             /* nothing was on its way as it began, so that it is the receiver who has to read */
};
STAPGEN_SET(stapgen_tx_clocks, stapgen_tx_clock, STAPGEN_CLOCK_BITS);

/* NULL: the socket has none. */
static inline struct stapgen_tx_clock* stapgen_find_tx_clock(unsigned long sk) {
    return STAPGEN_TX_WAITS ? (struct stapgen_tx_clock*)stapgen_find(stapgen_tx_clocks, sk) : NULL;
}
/* What passed since belongs to the state until now. */
static inline void stapgen_tick(struct stapgen_tx_clock* clock, s64 now) {
    stapgen_add_wait(&clock->hands, clock->state, now - clock->ticked);
    clock->ticked = now;
}
/* That of a socket, a new one if it has none. NULL: there is no room. */
static inline struct stapgen_tx_clock* stapgen_tx_clock_of(unsigned long sk, const struct stapgen_socket_id* id,
                                                           s64 now) {
    struct stapgen_tx_clock* clock = stapgen_find_tx_clock(sk);
    if (clock && stapgen_is_same_socket(&clock->id, id)) {
        WRITE_ONCE(clock->at.since, now);
    } else {
        enum stapgen_inserted inserted;
        clock = (struct stapgen_tx_clock*)stapgen_insert(stapgen_tx_clocks, sk, now, &inserted);
        if (!clock) return NULL;
        clock->begun = clock->ticked = now;
        clock->hands.said = 0;
        clock->state = STAPGEN_TX_WAIT_send_call;
        clock->no_room = STAPGEN_TX_WAIT_sndbuf;
        clock->is_trying = clock->has_sent = 0;
    }
    clock->id = *id;
    return clock;
}
static inline void stapgen_erase_tx_clock(unsigned long sk) {
    struct stapgen_tx_clock* clock = stapgen_find_tx_clock(sk);
    if (clock) stapgen_erase(&clock->at, sk);
}

#endif
