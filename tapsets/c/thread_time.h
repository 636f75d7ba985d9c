/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a thread does with its time, by what the scheduler notes of each (struct sched_info): how long it ran, and how
 * long it waited for a CPU. Between two readings it slept for the rest. */
#ifndef STAPGEN_THREAD_TIME_H
#define STAPGEN_THREAD_TIME_H

#include <linux/sched.h>
#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 11, 0)
#include <linux/sched/clock.h>
#endif

#include "read.h"
#include "waits.h"

enum stapgen_thread_state { STAPGEN_RUNS, STAPGEN_QUEUED, STAPGEN_ASLEEP };
static inline long stapgen_state_of(const struct task_struct* task) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 14, 0) || STAPGEN_IS_EL(8, 6)
    return READ_ONCE(task->__state);
#else
    return READ_ONCE(task->state);
#endif
}
static inline int stapgen_is_stopped(const struct task_struct* task) {
    enum { STOPPED = 4, TRACED = 8 }; /* __TASK_STOPPED, __TASK_TRACED */
    return (stapgen_state_of(task) & (STOPPED | TRACED)) != 0;
}
struct stapgen_thread_time {
    s64 at;      /* of the reading: ns */
    s64 arrived; /* when it last got a CPU that it had waited for: ns */
    s64 ran;     /* in all: ns */
    s64 delayed; /* likewise, waiting for a CPU */
    u64 arrivals, sleeps;
    u32 tid; /* 0: not read */
    u32 state;
};

#ifdef CONFIG_SCHED_INFO
/* The fields of another thread may change while they are read. */
static inline void stapgen_read_thread(struct stapgen_thread_time* time, const struct task_struct* task) {
    const struct sched_info* info = &task->sched_info;
    s64 clock = local_clock();
    time->at = STAPGEN_NOW();
    time->arrived = time->at - (clock - (s64)READ_ONCE(info->last_arrival));
    time->delayed = READ_ONCE(info->run_delay);
    time->arrivals = READ_ONCE(info->pcount);
    time->sleeps = READ_ONCE(task->nvcsw);
    time->ran = READ_ONCE(task->se.sum_exec_runtime);
    if (READ_ONCE(task->on_cpu)) {
        time->state = STAPGEN_RUNS;
        time->ran += clock - READ_ONCE(task->se.exec_start);
    } else {
        s64 queued = READ_ONCE(info->last_queued);
        time->state = queued ? STAPGEN_QUEUED : STAPGEN_ASLEEP;
        if (queued) time->delayed += clock - queued;
    }
    time->tid = READ_ONCE(task->pid);
}
/* How long this one ran. */
static inline s64 stapgen_ran_until_now(void) {
    return current->se.sum_exec_runtime + local_clock() - current->se.exec_start;
}
#else
static inline s64 stapgen_ran_until_now(void) {
    return 0;
}
static inline void stapgen_read_thread(struct stapgen_thread_time* time, const struct task_struct* task) {
    time->at = STAPGEN_NOW();
    time->tid = 0;
}
#endif

#endif
