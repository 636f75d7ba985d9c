/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a received packet waits for between TCP or UDP and the thread that takes its last byte: causes.h has the list.
 *
 * It is ready when all bytes before it are there, no thread's lock keeps it in the backlog, and there is as much as the
 * program wants at once. From then on it waits for its reader. The thread that has read the socket last is looked at
 * when the packet is ready, and once more when it reads: the difference is what it did in between. It is looked at in
 * between, too, where it has to read bytes before the packet first. Where another thread reads, its own last read is
 * the first look, and a part may stay undivided. */
#ifndef STAPGEN_RX_WAIT_H
#define STAPGEN_RX_WAIT_H

#include "counters.h"
#include "head_set.h"
#include "per_cpu.h"
#include "thread_time.h"

/* Of a thread that is not in a receiving call: a sleep that ends sooner is a wake-up. Longer than CPUs take to wake. */
enum { STAPGEN_WAKEUP_NS = 200000 };
/* What the scheduler's clocks may lack of a thread that did not sleep. One that goes to sleep as it is looked at is
 * noted to have done so before: then they lack more. */
enum { STAPGEN_SWITCH_NS = 10000 };

/* Of a packet that waits. Times in ns; 0: not yet. */
struct stapgen_rx_wait {
    unsigned long sk;
    s64 processed; /* it left the backlog */
    s64 ready;     /* all bytes before it are there */
    s64 wanted;    /* and as many as the program wants */
    s64 reached;   /* the bytes before it were read, if there were any that were not as it was wanted */
    u8 was_in_backlog, is_in_backlog, was_early, was_first;
    struct stapgen_thread_time reader;         /* as it was wanted: who had read last */
    struct stapgen_thread_time earlier_reader; /* as it was reached: who read */
};
static inline void stapgen_copy_rx_wait(struct stapgen_rx_wait* to, const struct stapgen_rx_wait* from) {
    to->sk = from->sk;
    to->processed = from->processed;
    to->ready = from->ready;
    to->wanted = from->wanted;
    to->reached = from->reached;
    to->was_in_backlog = from->was_in_backlog;
    to->was_early = from->was_early;
    to->reader = from->reader;
    if (from->reached) to->earlier_reader = from->earlier_reader;
}

/* Who has read a socket last. */
struct stapgen_rx_reader {
    struct stapgen_place at; /* key: the socket */
    const struct task_struct* task;
    u32 tid;
};
STAPGEN_SET(stapgen_rx_readers, stapgen_rx_reader, STAPGEN_PACKET_BITS);
/* What a thread was doing when it last read anything, and when its newest receiving call began. */
struct stapgen_rx_thread {
    struct stapgen_place at;         /* key: stapgen_thread_key() */
    s64 called, ran;                 /* when that was, and how long the thread had run: ns */
    s64 counted;                     /* `called` of the last call that took a packet */
    struct stapgen_thread_time time; /* tid 0: it has not read yet */
};
STAPGEN_SET(stapgen_rx_threads, stapgen_rx_thread, STAPGEN_THREAD_BITS);

/* What was looked at of a socket as a packet came to it: when its bytes are ready, and who had read it last. */
struct stapgen_rx_socket {
    unsigned long sk; /* 0: it was not looked at */
    u32 copied, lowat;
    int is_owned; /* by a thread */
    struct stapgen_thread_time reader;
};
STAPGEN_PER_CPU(struct stapgen_rx_socket, stapgen_rx_socket);

/* Whether it is a thread that has read and has not ended: what is in the set is not freed before this handler ends. */
static inline int stapgen_look_at_thread(struct stapgen_thread_time* time, const struct task_struct* task, u32 tid) {
    const struct stapgen_rx_thread* thread =
        tid ? (const struct stapgen_rx_thread*)stapgen_find(stapgen_rx_threads, stapgen_thread_key(task, tid)) : NULL;
    if (!thread || READ_ONCE(thread->time.tid) != tid) return 0;
    stapgen_read_thread(time, task);
    return time->tid == tid;
}
/* This thread ends. */
static inline void stapgen_rx_thread_ends(void) {
    stapgen_erase_key(stapgen_rx_threads, stapgen_this_thread_key());
}
static inline void stapgen_look_at_socket(const struct sock* sk, int is_tcp, const void** fault) {
    struct stapgen_rx_socket* socket = STAPGEN_THIS_CPU(stapgen_rx_socket);
    const struct stapgen_rx_reader* reader =
        (const struct stapgen_rx_reader*)stapgen_find(stapgen_rx_readers, (unsigned long)sk);
    socket->sk = (unsigned long)sk;
    if (is_tcp) {
        socket->copied = STAPGEN_READ(&tcp_sk(sk)->copied_seq, fault);
        socket->lowat = STAPGEN_READ(&sk->sk_rcvlowat, fault);
        socket->is_owned = STAPGEN_READ(&sk->sk_lock.owned, fault) != 0;
    }
    if (!reader || !stapgen_look_at_thread(&socket->reader, READ_ONCE(reader->task), READ_ONCE(reader->tid))) {
        socket->reader.tid = 0;
        socket->reader.at = STAPGEN_NOW();
    }
}
/* That of this thread; NULL: there is no room. */
static inline struct stapgen_rx_thread* stapgen_rx_this_thread(s64 now) {
    enum stapgen_inserted inserted;
    struct stapgen_rx_thread* thread =
        (struct stapgen_rx_thread*)stapgen_insert(stapgen_rx_threads, stapgen_this_thread_key(), now, &inserted);
    if (thread && inserted != STAPGEN_WAS_THERE) {
        thread->called = thread->counted = 0;
        thread->time.tid = 0;
    }
    return thread;
}
/* A receiving call of this thread begins. */
static inline void stapgen_note_rx_call(void) {
    s64 now = STAPGEN_NOW();
    struct stapgen_rx_thread* thread = stapgen_rx_this_thread(now);
    if (!thread) return;
    thread->called = now;
    thread->ran = stapgen_ran_until_now();
}
/* How this thread stands, as of the first look in an event that came at NOW or later. */
STAPGEN_PER_CPU(struct stapgen_thread_time, stapgen_rx_this_time);
static inline struct stapgen_thread_time* stapgen_rx_look_at_this(s64 now) {
    struct stapgen_thread_time* time = STAPGEN_THIS_CPU(stapgen_rx_this_time);
    if (time->tid != (u32)current->pid || time->at < now) stapgen_read_thread(time, current);
    return time;
}
/* Its newest receiving call takes a packet, perhaps not the first one. */
static inline void stapgen_count_rx_call(struct stapgen_rx_thread* thread) {
    if (!thread || thread->counted == thread->called) return;
    thread->counted = thread->called;
    STAPGEN_ADD(rx_recv_calls);
}
/* This thread has read from a socket. */
static inline void stapgen_note_rx_reader(unsigned long sk, const struct stapgen_thread_time* time) {
    enum stapgen_inserted inserted;
    struct stapgen_rx_reader* reader;
    struct stapgen_rx_thread* thread;
    reader = (struct stapgen_rx_reader*)stapgen_insert(stapgen_rx_readers, sk, time->at, &inserted);
    if (reader) {
        WRITE_ONCE(reader->tid, 0);
        WRITE_ONCE(reader->task, current);
        WRITE_ONCE(reader->tid, (u32)current->pid);
    }
    thread = stapgen_rx_this_thread(time->at);
    if (thread) thread->time = *time;
}

/* Of the time from FROM until TO it ran RAN, and IN_CALL since its receiving call began. */
static inline void stapgen_add_run(struct stapgen_waits* waits, s64 ran, s64 in_call) {
    if (in_call > ran) in_call = ran;
    if (in_call < 0) in_call = 0;
    if (ran > in_call) stapgen_add_wait(waits, STAPGEN_RX_WAIT_program, ran - in_call);
    if (in_call) stapgen_add_wait(waits, STAPGEN_RX_WAIT_recv_call, in_call);
}
/* Where interrupts have a time of their own it is not the thread's, and must not be taken for sleep. */
#ifdef CONFIG_IRQ_TIME_ACCOUNTING
enum { STAPGEN_IRQS_HAVE_TIME = 1 };
#else
enum { STAPGEN_IRQS_HAVE_TIME = 0 };
#endif
/* What a thread did from THEN to TO, a little before NOW. */
static inline void stapgen_divide_since(struct stapgen_waits* waits, s64 to, const struct stapgen_rx_thread* thread,
                                        const struct stapgen_thread_time* then, const struct stapgen_thread_time* now) {
    s64 after = now->at - to, all = to - then->at, ran = now->ran - then->ran - after,
        delayed = now->delayed - then->delayed;
    u64 arrivals = now->arrivals - then->arrivals;
    /* Already then: it sleeps for nothing else. */
    int is_in_call = thread && thread->called && thread->called <= then->at;
    if (all <= 0) return;
    if (delayed > all) delayed = all;
    if (delayed < 0 || !arrivals) delayed = 0;
    if (then->state != STAPGEN_ASLEEP && now->sleeps == then->sleeps &&
        (STAPGEN_IRQS_HAVE_TIME || all - delayed - ran < STAPGEN_SWITCH_NS))
        ran = all - delayed;
    if (arrivals == 1 && then->state == STAPGEN_ASLEEP) ran = to - now->arrived;
    if (ran > all - delayed) ran = all - delayed;
    if (ran < 0) ran = 0;
    stapgen_add_run(waits, ran, is_in_call ? ran : thread && thread->called ? now->ran - after - thread->ran : 0);
    if (delayed) stapgen_add_wait(waits, STAPGEN_RX_WAIT_run_queue, delayed);
    if (all > ran + delayed)
        stapgen_add_wait(waits,
                         is_in_call || (then->state == STAPGEN_ASLEEP && all - ran - delayed < STAPGEN_WAKEUP_NS)
                             ? STAPGEN_RX_WAIT_wake_up
                             : STAPGEN_RX_WAIT_asleep,
                         all - ran - delayed);
}
/* What it did from FROM to TO. It was seen THEN, before FROM, and NOW: only the last time that it came onto a CPU is
 * known. */
static inline void stapgen_divide_from(struct stapgen_waits* waits, s64 from, s64 to,
                                       const struct stapgen_rx_thread* thread, const struct stapgen_thread_time* then,
                                       const struct stapgen_thread_time* now) {
    u64 arrivals = now->arrivals - then->arrivals;
    s64 off, queued, arrived = now->arrived < to ? now->arrived : to, called = thread->called ? thread->called : to;
    if (!arrivals || arrived <= from) {
        stapgen_add_run(waits, to - from, to - called);
        return;
    }
    stapgen_add_run(waits, to - arrived, to - called);
    if (arrivals > 1) {
        stapgen_add_wait(waits, STAPGEN_RX_WAIT_undivided, arrived - from);
        return;
    }
    /* This thread ran then, as it noted this itself. */
    queued = arrived - (now->delayed - then->delayed);
    off = now->sleeps == then->sleeps ? queued : then->at + (now->ran - then->ran) - (now->at - arrived);
    if (queued < from) queued = from;
    if (queued > arrived) queued = arrived;
    if (off < from) off = from;
    if (off > queued) off = queued;
    if (off > from) stapgen_add_run(waits, off - from, off - called);
    if (queued > off)
        stapgen_add_wait(
            waits, off == from && queued - off < STAPGEN_WAKEUP_NS ? STAPGEN_RX_WAIT_wake_up : STAPGEN_RX_WAIT_asleep,
            queued - off);
    if (arrived > queued) stapgen_add_wait(waits, STAPGEN_RX_WAIT_run_queue, arrived - queued);
}

/* Likewise where it was not seen before: since it last came onto a CPU it has not left that. */
static inline void stapgen_divide_unseen(struct stapgen_waits* waits, s64 from, s64 to,
                                         const struct stapgen_rx_thread* thread,
                                         const struct stapgen_thread_time* now) {
    s64 since = now->tid ? now->arrived : to;
    if (since < from) since = from;
    if (since > to) since = to;
    stapgen_add_run(waits, to - since, thread && thread->called ? to - thread->called : 0);
    if (since > from) stapgen_add_wait(waits, STAPGEN_RX_WAIT_undivided, since - from);
}

/* While bytes before a packet were not read, from when it was wanted. */
static inline void stapgen_divide_until_reached(struct stapgen_waits* waits, const struct stapgen_rx_wait* wait,
                                                s64 from) {
    if (wait->reader.tid && wait->reader.tid == wait->earlier_reader.tid)
        stapgen_divide_since(waits, wait->reached, NULL, &wait->reader, &wait->earlier_reader);
    else
        stapgen_add_wait(waits, STAPGEN_RX_WAIT_unread_bytes, wait->reached - from);
}
/* As stapgen_divide_to_app(), without a look at whether it adds up. */
static inline void stapgen_divide_until_read(struct stapgen_waits* waits, const struct stapgen_rx_wait* wait,
                                             s64 transport, s64 now) {
    const struct stapgen_thread_time *then = &wait->reader, *time;
    struct stapgen_rx_thread* thread;
    s64 from = transport, called;
    waits->said = 0;
    thread = (struct stapgen_rx_thread*)stapgen_find(stapgen_rx_threads, stapgen_this_thread_key());
    called = thread ? thread->called : 0;
    stapgen_count_rx_call(thread);
    if (wait->was_in_backlog && wait->processed) {
        stapgen_add_wait(waits, STAPGEN_RX_WAIT_backlog, wait->processed - from);
        from = wait->processed;
    }
    if (!wait->wanted) {
        stapgen_add_wait(waits, STAPGEN_RX_WAIT_undivided, now - from);
        return;
    }
    if (wait->ready > from) {
        stapgen_add_wait(waits, wait->was_early ? STAPGEN_RX_WAIT_missing_bytes : STAPGEN_RX_WAIT_stack,
                         wait->ready - from);
        from = wait->ready;
    }
    if (wait->wanted > from) {
        stapgen_add_wait(waits, STAPGEN_RX_WAIT_rcvlowat, wait->wanted - from);
        from = wait->wanted;
    }
    /* Not by the same call: that has waited for nothing in between. */
    if (wait->reached > from && wait->reached < called) {
        stapgen_divide_until_reached(waits, wait, from);
        from = wait->reached;
        then = &wait->earlier_reader;
    }
    time = stapgen_rx_look_at_this(now);
    if (time->tid && then->tid == time->tid)
        stapgen_divide_since(waits, now, thread, then, time);
    else if (time->tid && thread && thread->time.tid == time->tid && thread->time.at <= from)
        stapgen_divide_from(waits, from, now, thread, &thread->time, time);
    else
        stapgen_divide_unseen(waits, from, now, thread, time);
}
/* A packet that TCP or UDP had at TRANSPORT and this thread takes at NOW. */
static inline void stapgen_divide_to_app(struct stapgen_waits* waits, const struct stapgen_rx_wait* wait, s64 transport,
                                         s64 now) {
    stapgen_divide_until_read(waits, wait, transport, now);
    stapgen_settle_waits(waits, now - transport, STAPGEN_RX_WAIT_undivided);
}

#endif
