/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For which request a thread works. With one open request all that it does is for that one. With several it is for the
 * one whose turn it is: from a read of that request, or of an answer to a question that was asked for it, until the
 * thread reads elsewhere, waits for several things, or replies. Meanwhile the others wait: for their own answers, where
 * they have asked; for other sockets; else it is not known for what.
 *
 * A request is handed to a thread that slept since before it was read, was woken by the one that had its turn, and is
 * the only one which that woke in it: the one cannot have worked for it before, and nobody else for it afterwards,
 * if it is also the one that replies, without another request in between. */
#ifndef STAPGEN_APP_TURNS_H
#define STAPGEN_APP_TURNS_H

#include "thread_clock.h"

static inline int stapgen_is_open(const struct stapgen_app_ref* ref) {
    return ref->app && READ_ONCE(ref->app->id) == ref->id;
}
/* Whether another thread has handed it to this one. */
static inline int stapgen_has_handed(const struct stapgen_clock* clock, const struct stapgen_app* app) {
    return clock->handed.of.app == app && clock->handed.of.id == app->id;
}
static inline s64 stapgen_in_turns(const struct stapgen_clock* clock, s64 now) {
    return clock->in_turns + (clock->turn.app ? now - clock->turn_since : 0);
}
static inline int stapgen_has_request(const struct stapgen_clock* clock) {
    return clock->opens || stapgen_is_open(&clock->handed.of);
}
/* What its thread has done since the last time is for the request, or is not any more. */
static inline void stapgen_take_share(struct stapgen_share* share, const struct stapgen_clock* clock, int is_own) {
    int cause;
    for (cause = 0; cause < STAPGEN_APP_CAUSES; cause++) {
        s64 ns = READ_ONCE(clock->ns[cause]);
        if (is_own) share->waits.ns[cause] += ns - share->copy[cause];
        share->copy[cause] = ns;
    }
}
/* Of a thread that runs, whose clock has moved on: the request's time until now is divided. */
static inline void stapgen_settle_app(struct stapgen_app* app, const struct stapgen_clock* clock, s64 now) {
    s64 turns = stapgen_in_turns(clock, now);
    stapgen_take_share(&app->own, clock, app->is_own);
    if (!app->is_own) {
        s64 from = app->until, from_turns = app->in_turns, others;
        if (app->questions) {
            s64 first = READ_ONCE(app->first);
            s64 until = first && first < now ? first : now;
            if (until > from) {
                app->own.waits.ns[STAPGEN_APP_WAIT_server] += until - from;
                from_turns = first ? app->first_in_turns : turns;
                from = until;
            }
        }
        others = turns - from_turns;
        if (others < 0) others = 0;
        if (others > now - from) others = now - from;
        app->own.waits.ns[STAPGEN_APP_WAIT_other_sockets] += others;
        app->own.waits.ns[STAPGEN_APP_WAIT_undivided] += now - from - others;
    }
    app->until = now;
    app->in_turns = turns;
}
static inline void stapgen_set_own(struct stapgen_app* app, const struct stapgen_clock* clock, u32 is_own, s64 now) {
    if (app->is_own == is_own) return;
    stapgen_settle_app(app, clock, now);
    app->is_own = is_own;
}
/* The thread works for that from now on; NULL: for none. */
static inline void stapgen_turn_to(struct stapgen_clock* clock, struct stapgen_app* app, s64 now) {
    struct stapgen_app* had = stapgen_is_open(&clock->turn) ? clock->turn.app : NULL;
    if (had == app && clock->turn.app == app) return;
    stapgen_clock_runs_until(clock, now);
    if (had && clock->opens > 1 && had->clock == clock) stapgen_set_own(had, clock, 0, now);
    clock->in_turns = stapgen_in_turns(clock, now);
    clock->turn_since = now;
    clock->turn.app = app;
    clock->turn.id = app ? app->id : 0;
    if (app && clock->opens > 1 && app->clock == clock) stapgen_set_own(app, clock, 1, now);
}
static inline void stapgen_leave_turn(struct stapgen_clock* clock, s64 now) {
    if (clock->turn.app) stapgen_turn_to(clock, NULL, now);
}
static inline void stapgen_turn_ends(void) {
    struct stapgen_clock* clock = stapgen_clock_of_this();
    if (clock) stapgen_leave_turn(clock, STAPGEN_NOW());
}
/* The request for which it works, in its turn or as its only one; NULL: it is not known for which. One for which it
 * has woken another thread may be that one's by now. */
static inline struct stapgen_app* stapgen_app_of(const struct stapgen_clock* clock) {
    if (stapgen_is_open(&clock->turn)) return clock->turn.app;
    if (clock->opens == 1 && stapgen_is_open(&clock->open[0]) && !clock->open[0].app->own.wakes)
        return clock->open[0].app;
    if (!clock->opens && stapgen_is_open(&clock->handed.of)) return clock->handed.of.app;
    return NULL;
}
/* What this thread has done of it; NULL: nothing that is known. */
static inline struct stapgen_share* stapgen_share_of(struct stapgen_clock* clock, struct stapgen_app* app) {
    if (!app) return NULL;
    if (app->clock == clock) return &app->own;
    return clock->handed.of.app == app ? &clock->handed.share : NULL;
}
/* Those that nobody has answered stay; the only one has all of its thread. */
static inline void stapgen_forget_closed(struct stapgen_clock* clock, s64 now) {
    u32 i, left = 0;
    for (i = 0; i < clock->opens; i++)
        if (stapgen_is_open(&clock->open[i])) clock->open[left++] = clock->open[i];
    clock->opens = left;
    if (left == 1) stapgen_set_own(clock->open[0].app, clock, 1, now);
}
/* It has read a new one. */
static inline void stapgen_open_app(struct stapgen_app* app, struct stapgen_clock* clock, s64 now) {
    stapgen_forget_closed(clock, now);
    clock->handed.of.app = NULL;
    app->clock = NULL;
    app->id = 0;
    if (clock->opens == STAPGEN_OPEN) return;
    if (clock->opens == 1)
        stapgen_set_own(clock->open[0].app, clock,
                        stapgen_is_open(&clock->turn) && clock->turn.app == clock->open[0].app, now);
    app->id = now;
    app->is_own = !clock->opens;
    app->questions = 0;
    app->first = 0;
    app->is_spread = 0;
    app->connecting = 0;
    app->is_moved = 0;
    app->own.wakes = 0;
    app->clock = clock;
    app->born = clock->born;
    clock->open[clock->opens].app = app;
    clock->open[clock->opens++].id = now;
}
static inline void stapgen_close_app(struct stapgen_app* app) {
    WRITE_ONCE(app->id, 0);
}

/* ---- hand-over ---- */

/* A running thread wakes another one of its process, which slept (in DOING) or did not; its clock, if it has one, is at
 * now. Of a thread that is seen for the first time it is not known since when it sleeps. */
static inline void stapgen_clock_hands(struct stapgen_clock* waker, struct stapgen_clock* woken,
                                       const struct task_struct* task, u32 doing, s64 now) {
    enum { HOPS = 4 };
    struct stapgen_app* app = stapgen_is_open(&waker->turn) ? waker->turn.app : NULL;
    struct stapgen_share* share = app && app->clock == waker ? &app->own : NULL;
    u32 hops = 1;
    if (!app && stapgen_is_open(&waker->handed.of)) {
        app = waker->handed.of.app;
        share = &waker->handed.share;
        hops = waker->handed.hops + 1;
    }
    if (!app || !share) return;
    /* It has it already, and slept again, for a mutex that the waker had. */
    if (woken && stapgen_has_handed(woken, app)) return;
    if (share->wakes++) set_bit(0, &app->is_spread);
    if (!woken) {
        stapgen_make_clock(task, STAPGEN_APP_WAIT_run_queue, now);
        return;
    }
    if (doing == STAPGEN_APP_WAIT_running || doing == STAPGEN_APP_WAIT_run_queue || woken->slept >= app->id ||
        woken->opens || hops > HOPS)
        return;
    stapgen_clock_runs_until(waker, now);
    if (share == &app->own)
        stapgen_settle_app(app, waker, now);
    else
        stapgen_take_share(share, waker, 1);
    woken->handed.share = *share;
    woken->handed.share.wakes = 0;
    memcpy(woken->handed.share.copy, woken->ns, sizeof(woken->ns));
    woken->handed.hops = hops;
    woken->handed.of.app = app;
    woken->handed.of.id = app->id;
}

#endif
