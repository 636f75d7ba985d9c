/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a request waits for between its read and its reply: what threads do that have one, and what ends their sleeps.
 */
#ifndef STAPGEN_APP_WAITS_H
#define STAPGEN_APP_WAITS_H

#include "questions.h"

/* ---- what ends a sleep ---- */

/* The socket whose readers were woken from this CPU last, and when. */
struct stapgen_woken_by {
    unsigned long sk;
    s64 at;
};
STAPGEN_PER_CPU(struct stapgen_woken_by, stapgen_woken_by);

/* In the context of whoever wakes: 0: it is no socket's. */
static inline unsigned long stapgen_waking_socket(s64 now) {
    enum { MOST = 100000 }; /* ns from the wake-up of a socket's readers to that of the thread */
    const struct stapgen_woken_by* by = STAPGEN_THIS_CPU(stapgen_woken_by);
    return in_serving_softirq() && now - by->at <= MOST ? by->sk : 0;
}
static inline u32 stapgen_kind_of_socket(const struct stapgen_clock* clock, unsigned long sk) {
    return stapgen_has_asked(clock, sk) ? STAPGEN_APP_WAIT_server : STAPGEN_APP_WAIT_other_sockets;
}
/* What ends a wait for several things. */
static inline u32 stapgen_wake_source(const struct stapgen_clock* clock, unsigned long sk) {
    if (hardirq_count()) return clock->sleep.kind == STAPGEN_POLLS ? STAPGEN_APP_WAIT_timer : STAPGEN_APP_WAIT_asleep;
    if (!in_serving_softirq()) return STAPGEN_APP_WAIT_process;
    return sk ? stapgen_kind_of_socket(clock, sk) : (u32)STAPGEN_APP_WAIT_asleep;
}
static inline void stapgen_note_waker(struct stapgen_thing* thing, unsigned long sk) {
    if (hardirq_count()) {
        thing->waker = STAPGEN_WAKER_IRQ;
    } else if (in_serving_softirq()) {
        thing->waker = sk ? STAPGEN_WAKER_NETWORK : STAPGEN_WAKER_SOFTIRQ;
    } else {
        thing->waker = STAPGEN_WAKER_THREAD;
        thing->waker_tid = (u32)current->pid;
        memcpy(thing->waker_comm, current->comm, sizeof(thing->waker_comm));
    }
}
/* What the holder of a lock did for most of the time since its waiter went to sleep. */
static inline void stapgen_note_meanwhile(struct stapgen_clock* clock, s64 now) {
    struct stapgen_clock* holder = clock->holder;
    s64 most = 0;
    int cause;
    clock->holder = NULL;
    if (!holder || holder->tid != clock->sleep.thing.holder_tid) return;
    stapgen_clock_moves_on(holder, READ_ONCE(holder->doing), now);
    for (cause = 0; cause < STAPGEN_APP_CAUSES; cause++) {
        s64 ns = READ_ONCE(holder->ns[cause]) - clock->holder_ns[cause];
        if (ns <= most) continue;
        most = ns;
        clock->sleep.thing.meanwhile = 1 + cause;
    }
    if (clock->sleep.thing.meanwhile == 1 + STAPGEN_APP_WAIT_undivided) clock->sleep.thing.meanwhile = 0;
}
/* A sleep of this kind ends, by a packet for that socket or (0) otherwise. Who ends it is of no interest where it is a
 * device, or time. */
static inline void stapgen_note_slept(struct stapgen_clock* clock, u32 kind, unsigned long sk, s64 ns, s64 now) {
    struct stapgen_share* share = stapgen_share_of(clock, stapgen_app_of(clock));
    if (!share) return;
    if (kind != STAPGEN_APP_WAIT_disk && kind != STAPGEN_APP_WAIT_swap && kind != STAPGEN_APP_WAIT_timer)
        stapgen_note_waker(&clock->sleep.thing, sk);
    stapgen_note_meanwhile(clock, now);
    stapgen_note_thing(&share->things, clock->tid, clock->comm, STAPGEN_BY_APP + kind, &clock->sleep.thing, ns);
}

/* ---- what happens ---- */

static inline void stapgen_clock_sees_readable(unsigned long sk) {
    struct stapgen_woken_by* by = STAPGEN_THIS_CPU(stapgen_woken_by);
    by->sk = sk;
    by->at = STAPGEN_NOW();
    stapgen_answer_comes(sk, by->at);
}
/* It goes to sleep. */
static inline void stapgen_clock_sleeps(struct stapgen_clock* clock, const struct task_struct* task, s64 now) {
    const struct stapgen_sleep* sleep = &clock->sleep;
    const void* fault = NULL;
    clock->holder = NULL;
    clock->slept = now;
    if (!stapgen_has_request(clock) && !clock->is_holder) {
        WRITE_ONCE(clock->doing, STAPGEN_APP_WAIT_asleep);
        return;
    }
    stapgen_sleep_of_this(&clock->sleep, task);
    if (sleep->sk) {
        clock->sleep.kind = stapgen_kind_of_socket(clock, sleep->sk);
        stapgen_thing_of_peer(&clock->sleep.thing, (const struct sock*)sleep->sk, &fault);
    }
    if (clock->reclaims) clock->sleep.kind = STAPGEN_APP_WAIT_memory;
    if (sleep->kind >= STAPGEN_APP_CAUSES) stapgen_leave_turn(clock, now);
    if (sleep->holder && stapgen_has_request(clock)) {
        struct stapgen_clock* holder = stapgen_clock_of(sleep->holder);
        if (!holder) holder = stapgen_make_clock(sleep->holder, STAPGEN_APP_WAIT_undivided, now);
        if (holder) {
            holder->is_holder = 1;
            stapgen_clock_moves_on(holder, READ_ONCE(holder->doing), now);
            memcpy(clock->holder_ns, holder->ns, sizeof(clock->holder_ns));
            clock->holder = holder;
        }
    }
    WRITE_ONCE(clock->doing, sleep->kind);
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
    stapgen_clock_runs_until(clock, now);
    if (is_preempted || !stapgen_state_of(from) || clock->is_woken)
        WRITE_ONCE(clock->doing, STAPGEN_APP_WAIT_run_queue);
    else
        stapgen_clock_sleeps(clock, from, now);
    clock->is_woken = 0;
}
/* A thread is being woken, on the CPU of whoever does it. One that is on its way to sleep, and off its queue already,
 * sleeps for no time. */
static inline void stapgen_clock_wakes(const struct task_struct* task) {
    struct stapgen_clock *clock = stapgen_clock_of(task), *waker = NULL;
    u32 doing;
    s64 now;
    if (!hardirq_count() && !in_serving_softirq() && task->tgid == current->tgid && task != current)
        waker = stapgen_clock_of(current);
    if (!clock && !waker) return;
    now = STAPGEN_NOW();
    doing = clock ? READ_ONCE(clock->doing) : 0;
    if (clock && doing == STAPGEN_APP_WAIT_running) {
        clock->is_woken = !READ_ONCE(task->on_rq);
    } else if (clock && doing != STAPGEN_APP_WAIT_run_queue) {
        unsigned long sk = stapgen_waking_socket(now);
        s64 since = READ_ONCE(clock->since);
        if (doing >= STAPGEN_APP_CAUSES) {
            const void* fault = NULL;
            doing = stapgen_wake_source(clock, sk);
            if (sk) stapgen_thing_of_peer(&clock->sleep.thing, (const struct sock*)sk, &fault);
        }
        stapgen_clock_moves_on(clock, doing, now);
        stapgen_note_slept(clock, doing, sk, now - since, now);
        WRITE_ONCE(clock->doing, STAPGEN_APP_WAIT_run_queue);
    }
    if (waker) stapgen_clock_hands(waker, clock, task, doing, now);
}
/* The kernel begins to look for memory for this thread, or has ended. */
static inline void stapgen_clock_reclaims(int begins) {
    struct stapgen_clock* clock = stapgen_clock_of(current);
    if (!clock || in_interrupt()) return;
    stapgen_clock_runs_until(clock, STAPGEN_NOW());
    clock->reclaims = begins;
}
/* This thread enters a system call, or leaves it. */
static inline void stapgen_clock_enters_call(int enters) {
    struct stapgen_clock* clock = stapgen_clock_of(current);
    if (!clock) return;
    stapgen_clock_runs_until(clock, STAPGEN_NOW());
    clock->in_call = enters;
}
static inline void stapgen_clock_ends(void) {
    struct stapgen_clock* clock = stapgen_clock_of(current);
    if (clock) stapgen_erase(&clock->at, (unsigned long)current);
}
/* This thread has read from a socket: from now on its time is known. NULL: there is no room. */
static inline struct stapgen_clock* stapgen_clock_reads(s64 now) {
    unsigned long goroutine = stapgen_goroutine_of_this();
    struct stapgen_clock* clock = stapgen_clock_here(goroutine);
    if (!clock && goroutine)
        clock = stapgen_make_clock_at(goroutine, (u32)current->tgid, current->comm, STAPGEN_APP_WAIT_goroutine, now);
    else if (!clock)
        clock = stapgen_make_clock(current, STAPGEN_APP_WAIT_running, now);
    if (clock) stapgen_clock_runs_until(clock, now);
    return clock;
}

/* ---- a request's parts ---- */

/* The first of a request's reads, or a further one. What comes from where its thread has asked is a reply. */
static inline void stapgen_note_app(struct stapgen_app* app, struct stapgen_clock* clock, unsigned long sk,
                                    int is_first, s64 now) {
    if (!clock || stapgen_has_asked(clock, sk) || (!is_first && app->clock != clock)) {
        app->clock = NULL;
        app->id = 0;
        return;
    }
    if (is_first) stapgen_open_app(app, clock, now);
    clock->has_read = 1;
    if (!app->clock) return;
    memset(app->own.waits.ns, 0, sizeof(app->own.waits.ns));
    memcpy(app->own.copy, clock->ns, sizeof(app->own.copy));
    app->own.things.n = app->own.answers.n = 0;
    app->own.things.unknown = 0;
    app->until = now;
    stapgen_turn_to(clock, app, now);
    app->in_turns = stapgen_in_turns(clock, now);
}
/* It is answered. Not under the lock of its queue. */
static inline void stapgen_count_app(const struct stapgen_app* app) {
    stapgen_add_times_later(&app->own.things);
    stapgen_add_times_later(&app->own.answers);
}
/* Processes in which a thread that reads requests has replied to another one's: tasks go from thread to thread, and
 * what a thread did in between may be for another. */
STAPGEN_SET(stapgen_mixing, stapgen_place, 6);
static inline int stapgen_is_mixing(void) {
    return stapgen_find(stapgen_mixing, (unsigned long)current->tgid) != NULL;
}
/* Who replies; not under the lock of a queue. */
static inline struct stapgen_clock* stapgen_clock_replies(void) {
    return stapgen_clock_of_this();
}
/* It replies, by a call that began then: to one that this thread has read itself, or to another's. */
static inline void stapgen_divide_app(struct stapgen_app* app, struct stapgen_clock* clock, int is_own, s64 stage,
                                      s64 called, s64 now) {
    struct stapgen_share* share = NULL;
    int cause;
    if (clock) stapgen_clock_runs_until(clock, now);
    if (clock && app->clock == clock && app->born == clock->born && app->id) {
        is_own = 1;
        /* The others wait for this one from now on until the thread turns elsewhere. */
        if (clock->opens > 1) stapgen_turn_to(clock, app, now);
        stapgen_settle_app(app, clock, now);
        if (clock->is_goroutine || (!READ_ONCE(app->is_moved) && !stapgen_is_mixing())) share = &app->own;
    } else if (clock && !is_own && app->id && stapgen_has_handed(clock, app) && !READ_ONCE(app->is_spread)) {
        stapgen_take_share(&clock->handed.share, clock, 1);
        app->own = clock->handed.share;
        share = &app->own;
    }
    app->own.waits.said = 0;
    app->longest.ns = 0;
    if (share) {
        share->waits.ns[clock->is_goroutine ? STAPGEN_APP_WAIT_goroutine
                        : clock->in_call    ? STAPGEN_APP_WAIT_syscall
                                            : STAPGEN_APP_WAIT_running] += called - now;
        for (cause = 0; cause < STAPGEN_APP_CAUSES; cause++)
            if (share->waits.ns[cause]) share->waits.said |= 1U << cause;
        stapgen_find_longest(&share->things, &app->longest);
    } else {
        app->own.things.n = app->own.answers.n = 0;
        if (!is_own) stapgen_add_wait(&app->own.waits, STAPGEN_APP_WAIT_handed_over, stage);
        if (!is_own && clock && clock->has_read) {
            enum stapgen_inserted inserted;
            stapgen_insert(stapgen_mixing, (unsigned long)current->tgid, now, &inserted);
        }
    }
    stapgen_settle_waits(&app->own.waits, stage, STAPGEN_APP_WAIT_undivided);
    stapgen_close_app(app);
    if (!clock) return;
    clock->handed.of.app = NULL;
    if (is_own) stapgen_forget_closed(clock, now);
}

#endif
