/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads that read requests do with their time: a clock for each, that runs from switch to switch and from
 * wake-up to wake-up. Between two readings of it is what the thread has done: the parts of a request that it read and
 * answered add up to the time between. A piece is added by one CPU, though others may want to: whoever moves `since`
 * on. */
#ifndef STAPGEN_THREAD_CLOCK_H
#define STAPGEN_THREAD_CLOCK_H

#ifndef STAPGEN_APP_PARTS
#define STAPGEN_APP_PARTS 1
#endif

#include <linux/hardirq.h>

#include "app_parts.h"
#include "sleep_kind.h"
#include "thread_time.h"
#include "throttled.h"

#ifndef STAPGEN_CLOCK_BITS
#define STAPGEN_CLOCK_BITS 8
#endif
enum { STAPGEN_ASKED = 4 };
struct stapgen_clock {
    struct stapgen_place at; /* key: the task */
    u32 tid;
    u32 doing;    /* since then: enum stapgen_app_wait, or STAPGEN_POLLS */
    u32 is_woken; /* a wake-up was seen before the sleep that it ends */
    u32 requests; /* that it has read */
    s64 since;
    s64 ns[STAPGEN_APP_CAUSES];
    unsigned long asked[STAPGEN_ASKED]; /* sockets on which it has sent since it read a request; the last ones */
    u32 asks;
};
STAPGEN_SET(stapgen_clocks, stapgen_clock, STAPGEN_CLOCK_BITS);

static inline struct stapgen_clock* stapgen_clock_of(const struct task_struct* task) {
    struct stapgen_clock* clock = (struct stapgen_clock*)stapgen_find(stapgen_clocks, (unsigned long)task);
    return clock && clock->tid == (u32)task->pid ? clock : NULL;
}
static inline void stapgen_add_to_clock(struct stapgen_clock* clock, u32 doing, s64 ns) {
    WRITE_ONCE(clock->ns[doing], clock->ns[doing] + ns);
}
/* What it did until now. */
static inline void stapgen_clock_moves_on(struct stapgen_clock* clock, u32 doing, s64 now) {
    s64 since = READ_ONCE(clock->since);
    if (since >= now || cmpxchg(&clock->since, since, now) != since) return;
    if (doing == STAPGEN_APP_WAIT_run_queue) {
        struct stapgen_throttle throttle;
        stapgen_throttle_of(&throttle, (const struct task_struct*)clock->at.key, since, now);
        stapgen_add_to_clock(clock, STAPGEN_APP_WAIT_throttled, throttle.until - throttle.from);
        since += throttle.until - throttle.from;
    }
    if (doing == STAPGEN_POLLS) doing = STAPGEN_APP_WAIT_asleep;
    stapgen_add_to_clock(clock, doing, now - since);
}
static inline int stapgen_has_asked(const struct stapgen_clock* clock, unsigned long sk) {
    u32 i;
    for (i = 0; i < STAPGEN_ASKED; i++)
        if (sk && clock->asked[i] == sk) return 1;
    return 0;
}

/* ---- what happens ---- */

/* The socket whose readers were woken from this CPU last, and when. */
struct stapgen_woken_by {
    unsigned long sk;
    s64 at;
};
STAPGEN_PER_CPU(struct stapgen_woken_by, stapgen_woken_by);

static inline void stapgen_clock_sees_readable(unsigned long sk) {
    struct stapgen_woken_by* by = STAPGEN_THIS_CPU(stapgen_woken_by);
    by->sk = sk;
    by->at = STAPGEN_NOW();
}
/* What ends a wait for several things, in the context of whoever wakes. */
static inline u32 stapgen_wake_source(const struct stapgen_clock* clock, s64 now) {
    enum { MOST = 100000 }; /* ns from the wake-up of a socket's readers to that of the thread */
    const struct stapgen_woken_by* by = STAPGEN_THIS_CPU(stapgen_woken_by);
    if (hardirq_count()) return STAPGEN_APP_WAIT_timer;
    if (!in_serving_softirq()) return STAPGEN_APP_WAIT_process;
    if (!by->sk || now - by->at > MOST) return STAPGEN_APP_WAIT_asleep;
    return stapgen_has_asked(clock, by->sk) ? STAPGEN_APP_WAIT_server : STAPGEN_APP_WAIT_other_sockets;
}
/* This CPU turns from this thread to another one. */
static inline void stapgen_clock_switches(const struct task_struct* from, const struct task_struct* to,
                                          int is_preempted) {
    struct stapgen_clock *next = stapgen_clock_of(to), *clock = stapgen_clock_of(from);
    s64 now;
    if (!next && !clock) return;
    now = STAPGEN_NOW();
    if (next) {
        stapgen_clock_moves_on(next, next->doing, now);
        next->is_woken = 0;
        WRITE_ONCE(next->doing, STAPGEN_APP_WAIT_running);
    }
    if (!clock) return;
    stapgen_clock_moves_on(clock, STAPGEN_APP_WAIT_running, now);
    if (is_preempted || !stapgen_state_of(from) || clock->is_woken) {
        WRITE_ONCE(clock->doing, STAPGEN_APP_WAIT_run_queue);
    } else {
        struct stapgen_sleep sleep;
        stapgen_sleep_of_this(&sleep, from);
        if (sleep.sk)
            sleep.kind = stapgen_has_asked(clock, sleep.sk) ? STAPGEN_APP_WAIT_server : STAPGEN_APP_WAIT_other_sockets;
        WRITE_ONCE(clock->doing, sleep.kind);
    }
    clock->is_woken = 0;
}
/* A thread is being woken, on the CPU of whoever does it. One that is on its way to sleep, and off its queue already,
 * sleeps for no time. */
static inline void stapgen_clock_wakes(const struct task_struct* task) {
    struct stapgen_clock* clock = stapgen_clock_of(task);
    u32 doing;
    s64 now;
    if (!clock) return;
    doing = READ_ONCE(clock->doing);
    if (doing == STAPGEN_APP_WAIT_running) {
        clock->is_woken = !READ_ONCE(task->on_rq);
    } else if (doing != STAPGEN_APP_WAIT_run_queue) {
        now = STAPGEN_NOW();
        if (doing == STAPGEN_POLLS) doing = stapgen_wake_source(clock, now);
        stapgen_clock_moves_on(clock, doing, now);
        WRITE_ONCE(clock->doing, STAPGEN_APP_WAIT_run_queue);
    }
}
static inline void stapgen_clock_ends(void) {
    struct stapgen_clock* clock = stapgen_clock_of(current);
    if (clock) stapgen_erase(&clock->at, (unsigned long)current);
}
/* This thread has read from a socket: from now on its time is known. NULL: there is no room. */
static inline struct stapgen_clock* stapgen_clock_reads(s64 now) {
    enum stapgen_inserted inserted;
    struct stapgen_clock* clock = stapgen_clock_of(current);
    if (!clock) {
        clock = (struct stapgen_clock*)stapgen_insert(stapgen_clocks, (unsigned long)current, now, &inserted);
        if (!clock) return NULL;
        memset((char*)clock + sizeof(clock->at), 0, sizeof(*clock) - sizeof(clock->at));
        clock->tid = (u32)current->pid;
        clock->since = now;
    }
    stapgen_clock_moves_on(clock, STAPGEN_APP_WAIT_running, now);
    return clock;
}
static inline void stapgen_clock_asks(unsigned long sk) {
    struct stapgen_clock* clock = stapgen_clock_of(current);
    if (clock && !stapgen_has_asked(clock, sk)) clock->asked[clock->asks++ % STAPGEN_ASKED] = sk;
}

/* ---- a request's parts ---- */

/* The first of a request's reads, or a further one. What comes from where its thread has asked is a reply. */
static inline void stapgen_note_app(struct stapgen_app* app, struct stapgen_clock* clock, unsigned long sk,
                                    int is_first) {
    int cause;
    app->requests = 0;
    app->waits.said = 0;
    if (!clock || stapgen_has_asked(clock, sk)) return;
    if (is_first) {
        clock->requests++;
        memset(clock->asked, 0, sizeof(clock->asked));
    }
    app->requests = clock->requests;
    for (cause = 0; cause < STAPGEN_APP_CAUSES; cause++)
        app->waits.ns[cause] = clock->ns[cause];
}
/* This thread replies, by a call that began then: to one that it has read itself, or to another thread's. */
static inline void stapgen_divide_app(struct stapgen_app* app, int is_own, s64 stage, s64 called, s64 now) {
    struct stapgen_clock* clock = stapgen_clock_of(current);
    int cause;
    app->waits.said = 0;
    if (!is_own) {
        stapgen_add_wait(&app->waits, STAPGEN_APP_WAIT_handed_over, stage);
        return;
    }
    if (clock && app->requests && clock->requests == app->requests) {
        stapgen_clock_moves_on(clock, STAPGEN_APP_WAIT_running, now);
        app->waits.ns[STAPGEN_APP_WAIT_running] += now - called;
        for (cause = 0; cause < STAPGEN_APP_CAUSES; cause++)
            if (clock->ns[cause] != app->waits.ns[cause]) {
                app->waits.ns[cause] = clock->ns[cause] - app->waits.ns[cause];
                app->waits.said |= 1U << cause;
            }
    }
    stapgen_settle_waits(&app->waits, stage, STAPGEN_APP_WAIT_undivided);
}

#endif
