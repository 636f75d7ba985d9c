/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads wait for that read followed packets: who had the CPU, which cgroup was throttled, where they slept.
 *
 * A CPU knows who has it: a thread, or what has interrupted that. A followed thread that is runnable has a place at its
 * CPU. Whenever the CPU turns to something else, the time since the last such moment is added up for each thread that
 * waits there. A wait is settled by one CPU at a time, though others may want to: whoever moves its `since` on has
 * that piece. */
#ifndef STAPGEN_WHO_H
#define STAPGEN_WHO_H

#include <linux/interrupt.h>

#include "thread_time.h"
#include "throttled.h"
#include "who_sums.h"

#ifndef STAPGEN_WHO_THREAD_BITS
#define STAPGEN_WHO_THREAD_BITS 8
#endif
enum {
    STAPGEN_WAITERS = 32,  /* at a CPU */
    STAPGEN_PIECES = 32,   /* that are kept of a thread's last waits */
    STAPGEN_WHO_DEPTH = 4, /* of interrupts on top of each other, and the thread */
    STAPGEN_NO_PLACE = -1, /* others had them all: who has the CPU is not known */
};
/* A part of a wait in which one had the CPU. Of the part behind `counted` it is known that a packet lay ready. */
struct stapgen_who_piece {
    s64 from, to, counted;
    struct stapgen_who_ref ref;
    u32 is_for_data; /* its time is not added up yet */
};
struct stapgen_who_thread {
    struct stapgen_place at; /* key: the task */
    u32 tid, state;          /* enum stapgen_thread_state */
    int cpu, place;          /* where it waits, if queued */
    s64 since;               /* until then its wait is added up; of one that runs no meaning */
    s64 followed;            /* its waits are known from then on */
    u64 episode, comm[2];
    u32 frames, newest; /* of its path, if asleep */
    u32 sleep;          /* enum stapgen_by_kind: how it sleeps */
    unsigned long frame[STAPGEN_WHO_FRAMES];
    struct stapgen_who_piece pieces[STAPGEN_PIECES];
};
STAPGEN_SET(stapgen_who_threads, stapgen_who_thread, STAPGEN_WHO_THREAD_BITS);

struct stapgen_who_cpu {
    u32 changes; /* odd: whoever has it is being changed */
    u32 depth;
    struct stapgen_by by[STAPGEN_WHO_DEPTH]; /* who has it, and on top of that what has interrupted it */
    unsigned long used;                      /* a bit for each place */
    struct stapgen_who_thread* waiter[STAPGEN_WAITERS];
};
STAPGEN_PER_CPU(struct stapgen_who_cpu, stapgen_who_cpus);

static inline struct stapgen_who_thread* stapgen_find_who(const struct task_struct* task) {
    struct stapgen_who_thread* thread =
        (struct stapgen_who_thread*)stapgen_find(stapgen_who_threads, (unsigned long)task);
    /* Its task may be another one's by now. */
    return thread && thread->tid == (u32)task->pid ? thread : NULL;
}
static inline void stapgen_copy_comm(u64* to, const struct task_struct* task) {
    memcpy(to, task->comm, sizeof(task->comm));
}

/* ---- waits ---- */

static inline void stapgen_add_piece(struct stapgen_who_thread* thread, const struct stapgen_by* by, s64 from, s64 to) {
    struct stapgen_who_piece* piece = &thread->pieces[thread->newest % STAPGEN_PIECES];
    struct stapgen_who_ref ref;
    if (to <= from) return;
    ref = stapgen_add_who(thread->tid, thread->comm, by, by->kind == STAPGEN_BY_DATA ? 0 : to - from, thread->episode);
    if (piece->to != from || piece->ref.set != ref.set || piece->ref.serial != ref.serial) {
        piece = &thread->pieces[++thread->newest % STAPGEN_PIECES];
        piece->from = from;
        piece->ref = ref;
        piece->is_for_data = by->kind == STAPGEN_BY_DATA;
    }
    piece->to = piece->counted = to;
}
/* It was runnable from FROM until TO, while that had its CPU. */
static inline void stapgen_add_queued(struct stapgen_who_thread* thread, const struct stapgen_by* by, s64 from,
                                      s64 to) {
    struct stapgen_throttle throttle;
    struct stapgen_by cgroup = {};
    stapgen_throttle_of(&throttle, (const struct task_struct*)thread->at.key, from, to);
    if (throttle.until > throttle.from) {
        cgroup.kind = STAPGEN_BY_CGROUP;
        cgroup.number = throttle.cgroup;
        stapgen_add_piece(thread, by, from, throttle.from);
        stapgen_add_piece(thread, &cgroup, throttle.from, throttle.until);
        from = throttle.until;
    }
    stapgen_add_piece(thread, by, from, to);
}
/* Adds up what it waited until now; nothing where another CPU does just this. */
static inline void stapgen_settle_waiter(struct stapgen_who_thread* thread, const struct stapgen_by* by, s64 now) {
    s64 since = READ_ONCE(thread->since);
    if (since < now && cmpxchg(&thread->since, since, now) == since) stapgen_add_queued(thread, by, since, now);
}

/* ---- who has a CPU ---- */

static inline void stapgen_settle_cpu(struct stapgen_who_cpu* cpu, s64 now) {
    const struct stapgen_by* by = &cpu->by[cpu->depth];
    unsigned long used = READ_ONCE(cpu->used);
    for (; used; used &= used - 1) {
        struct stapgen_who_thread* thread = READ_ONCE(cpu->waiter[__ffs(used)]);
        if (thread && READ_ONCE(thread->state) == STAPGEN_QUEUED && READ_ONCE(thread->cpu) == smp_processor_id())
            stapgen_settle_waiter(thread, by, now);
    }
}
/* Of any CPU; where it is just changing that is not known. */
static inline void stapgen_who_has(int number, struct stapgen_by* by) {
    const struct stapgen_who_cpu* cpu = STAPGEN_OF_CPU(stapgen_who_cpus, number);
    u32 changes = READ_ONCE(cpu->changes);
    smp_rmb();
    memcpy(by, &cpu->by[READ_ONCE(cpu->depth) % STAPGEN_WHO_DEPTH], sizeof(*by));
    smp_rmb();
    if (changes % 2 || READ_ONCE(cpu->changes) != changes) memset(by, 0, sizeof(*by));
}
static inline void stapgen_begin_change(struct stapgen_who_cpu* cpu) {
    WRITE_ONCE(cpu->changes, cpu->changes + 1);
    smp_wmb();
}
static inline void stapgen_end_change(struct stapgen_who_cpu* cpu) {
    smp_wmb();
    WRITE_ONCE(cpu->changes, cpu->changes + 1);
}
/* A softirq or an interrupt's handler begins on this CPU. NAME may be NULL. */
static inline void stapgen_who_enters(u32 kind, u64 number, const char* name) {
    struct stapgen_who_cpu* cpu = STAPGEN_THIS_CPU(stapgen_who_cpus);
    stapgen_settle_cpu(cpu, STAPGEN_NOW());
    if (cpu->depth + 1 < STAPGEN_WHO_DEPTH) {
        struct stapgen_by* by = &cpu->by[cpu->depth + 1];
        const void* fault = NULL;
        u32 i;
        stapgen_begin_change(cpu);
        by->kind = kind;
        by->number = number;
        by->name[0] = by->name[1] = 0;
        for (i = 0; name && i < sizeof(by->name) - 1; i++) {
            char byte = STAPGEN_READ(name + i, &fault);
            if (fault || !byte) break;
            ((char*)by->name)[i] = byte;
        }
        cpu->depth++;
        stapgen_end_change(cpu);
    }
}
static inline void stapgen_who_leaves(u32 kind, u64 number) {
    struct stapgen_who_cpu* cpu = STAPGEN_THIS_CPU(stapgen_who_cpus);
    u32 depth = cpu->depth;
    stapgen_settle_cpu(cpu, STAPGEN_NOW());
    /* One whose begin was not seen is none of them; the end of one above it was not seen. */
    while (depth && (cpu->by[depth].kind != kind || cpu->by[depth].number != number))
        depth--;
    if (!depth) return;
    stapgen_begin_change(cpu);
    cpu->depth = depth - 1;
    stapgen_end_change(cpu);
}

static inline void stapgen_who_enters_irq(u64 number, const struct irqaction* action) {
    stapgen_who_enters(STAPGEN_BY_IRQ, number, STAPGEN_TRY_READ(&action->name));
}

/* ---- a thread's states ---- */

static inline void stapgen_leave_place(struct stapgen_who_thread* thread) {
    struct stapgen_who_cpu* cpu = STAPGEN_OF_CPU(stapgen_who_cpus, thread->cpu);
    if (thread->place == STAPGEN_NO_PLACE) return;
    WRITE_ONCE(cpu->waiter[thread->place], NULL);
    clear_bit(thread->place, &cpu->used);
    thread->place = STAPGEN_NO_PLACE;
}
static inline void stapgen_take_place(struct stapgen_who_thread* thread, int number) {
    struct stapgen_who_cpu* cpu = STAPGEN_OF_CPU(stapgen_who_cpus, number);
    int place;
    WRITE_ONCE(thread->cpu, number);
    WRITE_ONCE(thread->state, STAPGEN_QUEUED);
    for (place = 0; place < STAPGEN_WAITERS && test_and_set_bit(place, &cpu->used); place++) {
    }
    thread->place = place < STAPGEN_WAITERS ? place : STAPGEN_NO_PLACE;
    smp_wmb();
    if (place < STAPGEN_WAITERS) WRITE_ONCE(cpu->waiter[place], thread);
}
/* A wait begins; nothing of it is added up. */
static inline void stapgen_begin_wait(struct stapgen_who_thread* thread, s64 now) {
    thread->episode++;
    WRITE_ONCE(thread->since, now);
}
static inline void stapgen_end_sleep(struct stapgen_who_thread* thread, s64 now) {
    struct stapgen_by path = {};
    if (!thread->frames) return;
    path.kind = thread->sleep;
    path.frames = thread->frames;
    path.frame = thread->frame;
    path.number = stapgen_mix_path(0, thread->frame, thread->frames);
    stapgen_add_piece(thread, &path, thread->since, now);
}
/* How it sleeps, by its state and its path. */
static inline u32 stapgen_sleep_of(const struct stapgen_who_thread* thread, const struct task_struct* task) {
    u32 i;
    if (stapgen_is_stopped(task)) return STAPGEN_BY_STOPPED;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 2, 0) && defined(CONFIG_CGROUPS)
    if (task->frozen) return STAPGEN_BY_FROZEN;
#endif
    for (i = 0; i < thread->frames; i++) {
        enum stapgen_frame_kind kind = stapgen_frame_kind_of(thread->frame[i]);
        if (kind == STAPGEN_RECEIVING_FRAME) return STAPGEN_BY_DATA;
        if (kind == STAPGEN_FREEZING_FRAME) return STAPGEN_BY_FROZEN;
    }
    return STAPGEN_BY_PATH;
}
/* This thread goes to sleep. */
static inline void stapgen_note_sleep(struct stapgen_who_thread* thread, const struct task_struct* task) {
    unsigned long* frame = STAPGEN_THIS_CPU(stapgen_raw_stacks)->frame;
    u32 size = stapgen_save_stack(frame, STAPGEN_RAW_FRAMES);
    thread->frames =
        stapgen_copy_path(frame, size, stapgen_skip_tracing(frame, size), thread->frame, STAPGEN_WHO_FRAMES);
    thread->sleep = stapgen_sleep_of(thread, task);
}
static inline void stapgen_gets_cpu(struct stapgen_who_thread* thread, s64 now) {
    static const struct stapgen_by unknown = {};
    if (thread->state == STAPGEN_ASLEEP) stapgen_end_sleep(thread, now);
    if (thread->state == STAPGEN_QUEUED) {
        /* Who had the CPU has been added up, if that was known. */
        stapgen_settle_waiter(thread, &unknown, now);
        stapgen_leave_place(thread);
    }
    WRITE_ONCE(thread->state, STAPGEN_RUNS);
}
/* This CPU turns from this thread to another one. */
static inline void stapgen_who_switches(const struct task_struct* from, const struct task_struct* to,
                                        int is_preempted) {
    struct stapgen_who_cpu* cpu = STAPGEN_THIS_CPU(stapgen_who_cpus);
    struct stapgen_who_thread* thread;
    s64 now = STAPGEN_NOW();
    stapgen_settle_cpu(cpu, now);
    stapgen_begin_change(cpu);
    cpu->depth = 0;
    cpu->by[0].kind = to->pid ? STAPGEN_BY_THREAD : STAPGEN_BY_IDLE;
    cpu->by[0].number = to->pid;
    stapgen_copy_comm(cpu->by[0].name, to);
    stapgen_end_change(cpu);
    thread = stapgen_find_who(to);
    if (thread) stapgen_gets_cpu(thread, now);
    thread = stapgen_find_who(from);
    if (!thread) return;
    stapgen_begin_wait(thread, now);
    if (is_preempted || !stapgen_state_of(from)) {
        stapgen_take_place(thread, smp_processor_id());
    } else {
        stapgen_note_sleep(thread, from);
        WRITE_ONCE(thread->state, STAPGEN_ASLEEP);
    }
}
static inline void stapgen_who_wakes(const struct task_struct* task) {
    struct stapgen_who_thread* thread = stapgen_find_who(task);
    s64 now;
    if (!thread || thread->state != STAPGEN_ASLEEP) return;
    now = STAPGEN_NOW();
    stapgen_end_sleep(thread, now);
    stapgen_begin_wait(thread, now);
    stapgen_take_place(thread, task_cpu(task));
}
/* A runnable thread goes to another CPU. */
static inline void stapgen_who_moves(const struct task_struct* task, int to) {
    struct stapgen_who_thread* thread = stapgen_find_who(task);
    struct stapgen_by by;
    if (!thread || thread->state != STAPGEN_QUEUED) return;
    stapgen_who_has(thread->cpu, &by);
    if (thread->place == STAPGEN_NO_PLACE) memset(&by, 0, sizeof(by));
    stapgen_settle_waiter(thread, &by, STAPGEN_NOW());
    stapgen_leave_place(thread);
    stapgen_take_place(thread, to);
}
static inline void stapgen_who_ends(void) {
    struct stapgen_who_thread* thread = stapgen_find_who(current);
    if (thread) stapgen_erase(&thread->at, (unsigned long)current);
}

#endif
