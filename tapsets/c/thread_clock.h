/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads that read requests do with their time: a clock for each, that runs from switch to switch and from
 * wake-up to wake-up. A goroutine has one of its own, for whatever thread runs it: that knows only what it asks.
 * Between two readings of it is what the thread has done: the parts of a request that it read and answered add up to
 * the time between. A piece is added by one CPU, though others may want to: whoever moves `since` on. app_turns.h says
 * for which request that was, questions.h what it asked in between, app_waits.h what happens. */
#ifndef STAPGEN_THREAD_CLOCK_H
#define STAPGEN_THREAD_CLOCK_H

#ifndef STAPGEN_APP_PARTS
#define STAPGEN_APP_PARTS 1
#endif

#include <linux/hardirq.h>

#include "app_parts.h"
#include "counters.h"
#include "goroutine.h"
#include "sleep_kind.h"
#include "thread_time.h"
#include "throttled.h"

#ifndef STAPGEN_CLOCK_BITS
#define STAPGEN_CLOCK_BITS 8
#endif
enum { STAPGEN_OPEN = 32 };
/* A request: its row may be another's by now. */
struct stapgen_app_ref {
    struct stapgen_app* app; /* NULL: none */
    s64 id;
};
/* A request that another thread has read, and handed to this one as it woke it. */
struct stapgen_handed {
    struct stapgen_app_ref of;
    u32 hops;
    struct stapgen_share share;
};
struct stapgen_clock {
    struct stapgen_place at; /* key: the task, or the goroutine */
    u32 tid;                 /* of a goroutine its process's */
    u32 is_goroutine;
    u32 doing;     /* since then: enum stapgen_app_wait, or as stapgen_sleep's kind */
    u32 is_woken;  /* a wake-up was seen before the sleep that it ends */
    u32 in_call;   /* in a system call, where these are looked at */
    u32 reclaims;  /* the kernel looks for memory for it */
    u32 is_holder; /* of a lock that a request has waited for */
    u32 has_read;  /* a request */
    u32 opens;     /* how many may be in `open` */
    u64 comm[2];
    s64 born, since, slept; /* slept: since when it sleeps, if it does */
    s64 ns[STAPGEN_APP_CAUSES];
    struct stapgen_app_ref open[STAPGEN_OPEN]; /* that it has read, and nobody has answered */
    struct stapgen_app_ref turn; /* for which it works, from a read on until it reads or waits elsewhere */
    s64 turn_since, in_turns;    /* how long it has worked for any, until turn_since */
    struct stapgen_handed handed;
    struct stapgen_sleep sleep;
    struct stapgen_clock* holder; /* of the lock that it sleeps for, and what that had done before; NULL: not known */
    s64 holder_ns[STAPGEN_APP_CAUSES];
};
STAPGEN_SET(stapgen_clocks, stapgen_clock, STAPGEN_CLOCK_BITS);

static inline struct stapgen_clock* stapgen_clock_of(const struct task_struct* task) {
    struct stapgen_clock* clock = (struct stapgen_clock*)stapgen_find(stapgen_clocks, (unsigned long)task);
    return clock && clock->tid == (u32)task->pid ? clock : NULL;
}
static inline struct stapgen_clock* stapgen_make_clock_at(unsigned long key, u32 tid, const char* comm, u32 doing,
                                                          s64 now) {
    enum stapgen_inserted inserted;
    struct stapgen_clock* clock = (struct stapgen_clock*)stapgen_insert(stapgen_clocks, key, now, &inserted);
    if (inserted == STAPGEN_EVICTED) STAPGEN_ADD(who_threads_evicted);
    if (!clock) return NULL;
    memset((char*)clock + sizeof(clock->at), 0, sizeof(*clock) - sizeof(clock->at));
    clock->tid = tid;
    clock->is_goroutine = doing == STAPGEN_APP_WAIT_goroutine;
    memcpy(clock->comm, comm, sizeof(clock->comm));
    clock->doing = doing;
    clock->born = clock->since = clock->slept = now;
    return clock;
}
/* That of a thread from now on; what it does until its next switch or wake-up is DOING. NULL: there is no room. */
static inline struct stapgen_clock* stapgen_make_clock(const struct task_struct* task, u32 doing, s64 now) {
    return stapgen_make_clock_at((unsigned long)task, (u32)task->pid, task->comm, doing, now);
}
/* That of a goroutine which this thread runs; 0: the thread's own. NULL: there is none. */
static inline struct stapgen_clock* stapgen_clock_here(unsigned long goroutine) {
    struct stapgen_clock* clock;
    if (!goroutine) return stapgen_clock_of(current);
    clock = (struct stapgen_clock*)stapgen_find(stapgen_clocks, goroutine);
    return clock && clock->tid == (u32)current->tgid ? clock : NULL;
}
static inline struct stapgen_clock* stapgen_clock_of_this(void) {
    return stapgen_clock_here(stapgen_goroutine_of_this());
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
    } else if (doing == STAPGEN_APP_WAIT_running && clock->reclaims) {
        doing = STAPGEN_APP_WAIT_memory;
    } else if (doing == STAPGEN_APP_WAIT_running && clock->in_call) {
        doing = STAPGEN_APP_WAIT_syscall;
    }
    if (doing >= STAPGEN_APP_CAUSES) doing = STAPGEN_APP_WAIT_asleep;
    stapgen_add_to_clock(clock, doing, now - since);
}
static inline void stapgen_clock_runs_until(struct stapgen_clock* clock, s64 now) {
    stapgen_clock_moves_on(clock, clock->is_goroutine ? clock->doing : (u32)STAPGEN_APP_WAIT_running, now);
}

#endif
