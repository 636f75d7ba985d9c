/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that wait for data and receive it. */
#ifndef STAPGEN_READER_H
#define STAPGEN_READER_H

#include <linux/string.h>

#include "head_set.h"
#include "turn.h"

/* A thread's last wait that returned events, and the receiving call that it began last. */
struct stapgen_thread {
    struct stapgen_place at; /* key: stapgen_thread_key() */
    s64 woken, events;       /* 0: none */
    s64 called;
    unsigned long sk; /* TCP, until the call returns */
    struct stapgen_turn turn;
};
STAPGEN_SET(stapgen_threads, stapgen_thread, STAPGEN_THREAD_BITS);

static inline struct stapgen_thread* stapgen_make_thread(void) {
    enum stapgen_inserted inserted;
    struct stapgen_thread* thread =
        (struct stapgen_thread*)stapgen_insert(stapgen_threads, stapgen_this_thread_key(), STAPGEN_NOW(), &inserted);
    if (thread && inserted != STAPGEN_WAS_THERE) {
        thread->woken = thread->events = thread->called = 0;
        thread->sk = 0;
        memset(&thread->turn, 0, sizeof(thread->turn));
    }
    return thread;
}
/* This thread has waited, and there were events or none; or it begins to receive, from a TCP socket or (0) from
 * another.
 */
static inline void stapgen_thread_woken(s64 events) {
    struct stapgen_thread* thread =
        events > 0 ? stapgen_make_thread()
                   : (struct stapgen_thread*)stapgen_find(stapgen_threads, stapgen_this_thread_key());
    if (!thread) return;
    stapgen_end_turn(&thread->turn);
    if (events <= 0) return;
    thread->woken = READ_ONCE(thread->at.since);
    thread->events = events;
    thread->called = 0;
    thread->sk = 0;
}
static inline void stapgen_thread_receives(unsigned long sk) {
    struct stapgen_thread* thread = stapgen_make_thread();
    if (!thread) return;
    thread->called = READ_ONCE(thread->at.since);
    thread->sk = sk;
    stapgen_turn_receives(&thread->turn, sk);
}
/* What it puts into a request that it reads. */
struct stapgen_reader {
    s64 woken, events, called, thread;
    u64 comm[2];
};
static inline struct stapgen_reader stapgen_reader_of(const struct stapgen_thread* thread) {
    struct stapgen_reader reader = {0, 0, 0, 0, {0, 0}};
    reader.thread = stapgen_this_thread_of();
    memcpy(reader.comm, current->comm, sizeof(reader.comm));
    if (!thread) return reader;
    reader.woken = thread->woken;
    reader.events = thread->events;
    reader.called = thread->called;
    return reader;
}

#endif
