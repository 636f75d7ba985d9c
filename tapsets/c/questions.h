/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads ask other servers for their requests, by the socket: it has one question at a time. A question begins
 * with a send call of a thread whose request is known, its answer's first byte wakes the socket's readers, and the same
 * thread's next read ends it. */
#ifndef STAPGEN_QUESTIONS_H
#define STAPGEN_QUESTIONS_H

#include "app_turns.h"

#ifndef STAPGEN_ASKING_BITS
#define STAPGEN_ASKING_BITS 8
#endif
struct stapgen_asking {
    struct stapgen_place at;     /* key: the socket */
    struct stapgen_clock* clock; /* of the thread or goroutine that asks */
    struct stapgen_app_ref of;
    s64 asked, first;        /* ns; 0: not yet, or it is answered */
    u32 is_connecting;       /* nothing was sent on it yet */
    u32 is_shared;           /* by requests that ask at the same time */
    struct stapgen_thing to; /* the server */
};
STAPGEN_SET(stapgen_askings, stapgen_asking, STAPGEN_ASKING_BITS);

static inline struct stapgen_asking* stapgen_find_asking(const struct stapgen_clock* clock, unsigned long sk) {
    struct stapgen_asking* asking = (struct stapgen_asking*)stapgen_find(stapgen_askings, sk);
    return asking && asking->clock == clock ? asking : NULL;
}
/* For a request that is open. */
static inline int stapgen_has_asked(const struct stapgen_clock* clock, unsigned long sk) {
    const struct stapgen_asking* asking = stapgen_find_asking(clock, sk);
    return asking && stapgen_is_open(&asking->of);
}
/* A request's time with a question ends, or it is not known any more when that is. */
static inline void stapgen_end_question_of(struct stapgen_asking* asking, struct stapgen_clock* clock, s64 now) {
    struct stapgen_app* app = stapgen_is_open(&asking->of) ? asking->of.app : NULL;
    asking->asked = 0;
    if (!app || app->clock != clock || !app->questions) return;
    stapgen_clock_runs_until(clock, now);
    stapgen_settle_app(app, clock, now);
    app->questions--;
    app->first = 0;
    if (clock->is_goroutine && !app->questions) clock->doing = STAPGEN_APP_WAIT_goroutine;
}
/* A question is asked on a connection that is made for it, unless the request asks elsewhere before: then it may be for
 * a pool, and another request's. */
static inline void stapgen_forget_connecting(struct stapgen_clock* clock, struct stapgen_app* app, unsigned long sk,
                                             s64 now) {
    struct stapgen_asking* asking;
    if (!app->connecting || app->connecting == sk) return;
    asking = stapgen_find_asking(clock, app->connecting);
    app->connecting = 0;
    if (!asking || !asking->is_connecting || asking->of.app != app) return;
    stapgen_end_question_of(asking, clock, now);
    stapgen_erase(&asking->at, asking->at.key);
}
/* It connects (IS_CONNECTING), or sends on a socket that has no request. */
static inline void stapgen_clock_asks_by(unsigned long sk, int is_tcp, int is_connecting, const void** fault) {
    struct stapgen_clock* clock = stapgen_clock_of_this();
    struct stapgen_app* app = clock ? stapgen_app_of(clock) : NULL;
    struct stapgen_asking* asking = clock ? stapgen_find_asking(clock, sk) : NULL;
    enum stapgen_inserted inserted;
    struct stapgen_thing to = {};
    s64 now;
    if (is_connecting) {
        /* What was asked on it before was another connection's. */
        if (asking) stapgen_end_question_of(asking, clock, STAPGEN_NOW());
        stapgen_erase_key(stapgen_askings, sk);
    } else if (asking && asking->is_connecting) {
        asking->is_connecting = 0;
        if (stapgen_is_open(&asking->of)) {
            stapgen_turn_to(clock, asking->of.app, STAPGEN_NOW());
            return;
        }
    }
    if (!app) return;
    now = STAPGEN_NOW();
    stapgen_forget_connecting(clock, app, sk, now);
    stapgen_thing_of_peer(&to, (const struct sock*)sk, fault);
    if (*fault) return;
    asking = (struct stapgen_asking*)stapgen_insert(stapgen_askings, sk, now, &inserted);
    if (!asking) return;
    if (inserted != STAPGEN_WAS_THERE || asking->clock != clock) {
        asking->clock = clock;
        asking->asked = asking->is_shared = 0;
        asking->of.app = NULL;
    }
    if (asking->asked && stapgen_is_open(&asking->of)) {
        if (asking->of.app == app) return; /* more of it */
        stapgen_end_question_of(asking, clock, now);
        asking->is_shared = 1;
    }
    asking->of.app = app;
    asking->of.id = app->id;
    asking->to = to;
    asking->first = 0;
    asking->is_connecting = is_connecting;
    app->connecting = is_connecting ? sk : 0;
    /* Of UDP it is not seen when the answer is read. */
    asking->asked = is_tcp && !asking->is_shared ? now : 0;
    if (asking->asked && app->clock == clock) {
        app->questions++;
        app->first = 0;
        if (clock->is_goroutine) {
            stapgen_clock_runs_until(clock, now);
            clock->doing = STAPGEN_APP_WAIT_server;
        }
    }
}
/* This thread sends on a socket that has no request. */
static inline void stapgen_clock_asks(unsigned long sk, int is_tcp, const void** fault) {
    stapgen_clock_asks_by(sk, is_tcp, 0, fault);
}
/* It connects to a server. */
static inline void stapgen_clock_connects(unsigned long sk, const void** fault) {
    stapgen_clock_asks_by(sk, 1, 1, fault);
}
/* The readers of a socket are being woken. */
static inline void stapgen_answer_comes(unsigned long sk, s64 now) {
    struct stapgen_asking* asking = (struct stapgen_asking*)stapgen_find(stapgen_askings, sk);
    struct stapgen_app* app;
    if (!asking || !asking->asked || asking->first) return;
    asking->first = now;
    app = asking->of.app;
    if (!stapgen_is_open(&asking->of) || app->clock != asking->clock || app->questions != 1) return;
    app->first_in_turns = stapgen_in_turns(asking->clock, now);
    WRITE_ONCE(app->first, now);
}
/* This thread has read from a socket: that is an answer to a question, or ends its turn. */
static inline void stapgen_clock_reads_from(unsigned long sk) {
    struct stapgen_clock* clock = stapgen_clock_of_this();
    struct stapgen_asking* asking = clock ? stapgen_find_asking(clock, sk) : NULL;
    struct stapgen_app* app;
    s64 now;
    if (!asking) {
        /* What another thread has asked for is read here: the request goes from thread to thread. */
        struct stapgen_asking* other = (struct stapgen_asking*)stapgen_find(stapgen_askings, sk);
        if (other && other->asked && stapgen_is_open(&other->of)) WRITE_ONCE(other->of.app->is_moved, 1);
    }
    if (!clock) return;
    now = STAPGEN_NOW();
    if (!asking || !stapgen_is_open(&asking->of)) {
        stapgen_leave_turn(clock, now);
        return;
    }
    app = asking->of.app;
    if (asking->asked) {
        struct stapgen_share* share = stapgen_share_of(clock, app);
        s64 first = asking->first ? asking->first : now;
        if (share) {
            if (clock->is_goroutine)
                stapgen_note_thing(&share->things, clock->tid, clock->comm,
                                   (u32)STAPGEN_BY_APP + STAPGEN_APP_WAIT_server, &asking->to, now - asking->asked);
            stapgen_note_thing(&share->answers, clock->tid, clock->comm, STAPGEN_BY_FIRST, &asking->to,
                               first - asking->asked);
            stapgen_note_thing(&share->answers, clock->tid, clock->comm, STAPGEN_BY_REST, &asking->to, now - first);
        }
        stapgen_end_question_of(asking, clock, now);
    }
    if (asking->is_shared)
        stapgen_leave_turn(clock, now);
    else if (app->clock == clock)
        stapgen_turn_to(clock, app, now);
}

#endif
