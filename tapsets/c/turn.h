/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whom a thread works for, for a recipe that follows both ends: print_end.h takes the questions of a turn for those of
 * its request.
 *
 * A turn begins where the thread reads bytes of a request, or of the reply to a question that is for one. It ends where
 * the thread begins to receive from another socket, where it has waited for events, and where it replies. A request
 * whose turn ends without a question or a reply is laid aside: the thread, or another one, will go on with it, and
 * nothing says when. */
#ifndef STAPGEN_TURN_H
#define STAPGEN_TURN_H

#include "which_end.h"

/* A request: its socket, its first sequence number, and that of all that is sent back on its connection. */
struct stapgen_for {
    unsigned long sk; /* 0: none that is known */
    u32 seq, stream;
};

/* Who has asked a question, below its process, and for whom. */
struct stapgen_asker {
    s64 thread;
    struct stapgen_for of;
};

#if STAPGEN_BOTH_ENDS
enum { STAPGEN_LAID_ASIDE = 8 };
struct stapgen_turn {
    struct stapgen_for of;
    unsigned long by; /* the socket whose bytes began it */
    int has_acted;
    int is_lost; /* more were laid aside than there is room for: of this thread nothing is known any more */
    struct stapgen_for aside[STAPGEN_LAID_ASIDE];
};

static inline void stapgen_take_up(struct stapgen_turn* turn, unsigned long sk) {
    int i;
    for (i = 0; i < STAPGEN_LAID_ASIDE; i++)
        if (turn->aside[i].sk == sk) turn->aside[i].sk = 0;
}
static inline void stapgen_lay_aside(struct stapgen_turn* turn) {
    int i;
    stapgen_take_up(turn, turn->of.sk);
    for (i = 0; i < STAPGEN_LAID_ASIDE; i++) {
        if (turn->aside[i].sk) continue;
        turn->aside[i] = turn->of;
        return;
    }
    turn->is_lost = 1;
}
static inline void stapgen_end_turn(struct stapgen_turn* turn) {
    if (turn->of.sk && !turn->has_acted) stapgen_lay_aside(turn);
    turn->of.sk = turn->by = 0;
}
static inline void stapgen_begin_turn(struct stapgen_turn* turn, const struct stapgen_for* of, unsigned long by) {
    if (turn->of.sk != of->sk || turn->of.seq != of->seq) stapgen_end_turn(turn);
    if (!of->sk) return;
    stapgen_take_up(turn, of->sk);
    turn->of = *of;
    turn->by = by;
    turn->has_acted = 0;
}
/* More of what began it is more of it. */
static inline void stapgen_turn_receives(struct stapgen_turn* turn, unsigned long sk) {
    if (!sk || turn->by != sk) stapgen_end_turn(turn);
}
#else
struct stapgen_turn {};
#define stapgen_end_turn(turn) ((void)(turn))
#define stapgen_turn_receives(turn, sk) ((void)(turn))
#endif

#endif
