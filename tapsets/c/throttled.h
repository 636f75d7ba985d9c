/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which run queues of cgroups are throttled, or were last, by the address of their struct cfs_rq, which is of one
 * cgroup on one CPU. */
#ifndef STAPGEN_THROTTLED_H
#define STAPGEN_THROTTLED_H

#include <linux/sched.h>

#include "head_set.h"
#include "owner.h"
#include "per_cpu.h"

#ifndef STAPGEN_THROTTLED_BITS
#define STAPGEN_THROTTLED_BITS 8
#endif
struct stapgen_throttled {
    struct stapgen_place at; /* key: the cfs_rq */
    s64 from, until;         /* ns; until 0: neither is known */
};
STAPGEN_SET(stapgen_throttled, stapgen_throttled, STAPGEN_THROTTLED_BITS);
static int stapgen_any_throttled;
/* That which is being throttled on this CPU. */
STAPGEN_PER_CPU(unsigned long, stapgen_throttling);

enum { STAPGEN_STILL_SHIFT = 62 };
#define STAPGEN_STILL_THROTTLED ((s64)1 << STAPGEN_STILL_SHIFT)

static inline void stapgen_note_throttled(unsigned long cfs_rq) {
    s64 now = STAPGEN_NOW();
    enum stapgen_inserted inserted;
    struct stapgen_throttled* of = (struct stapgen_throttled*)stapgen_insert(stapgen_throttled, cfs_rq, now, &inserted);
    if (!of) return;
    WRITE_ONCE(of->until, 0);
    smp_wmb();
    WRITE_ONCE(of->from, now);
    smp_wmb();
    WRITE_ONCE(of->until, STAPGEN_STILL_THROTTLED);
    WRITE_ONCE(stapgen_any_throttled, 1);
}
static inline void stapgen_note_unthrottled(unsigned long cfs_rq) {
    struct stapgen_throttled* of = (struct stapgen_throttled*)stapgen_find(stapgen_throttled, cfs_rq);
    if (of && READ_ONCE(of->until) == STAPGEN_STILL_THROTTLED) WRITE_ONCE(of->until, STAPGEN_NOW());
}

/* For how long of a time a thread was in a throttled cgroup. */
struct stapgen_throttle {
    s64 from, until; /* ns; the same: it was in none */
    u64 cgroup;      /* 0: not known */
};
static inline void stapgen_throttle_of(struct stapgen_throttle* throttle, const struct task_struct* task, s64 from,
                                       s64 until) {
    throttle->from = throttle->until = until;
    throttle->cgroup = 0;
#if defined(CONFIG_CFS_BANDWIDTH) && defined(CONFIG_FAIR_GROUP_SCHED)
    if (READ_ONCE(stapgen_any_throttled)) {
        const struct css_set* css_set = STAPGEN_TRY_POINTER(struct css_set, &task->cgroups);
        const struct cgroup_subsys_state* css =
            css_set ? STAPGEN_TRY_POINTER(struct cgroup_subsys_state, &css_set->subsys[cpu_cgrp_id]) : NULL;
        const struct sched_entity* se = &task->se;
        int depth;
        /* Both go up by one cgroup a step. */
        for (depth = 0; se && depth < 64; depth++) {
            const struct stapgen_throttled* of = (const struct stapgen_throttled*)stapgen_find(
                stapgen_throttled, (unsigned long)STAPGEN_TRY_POINTER(struct cfs_rq, &se->cfs_rq));
            if (of) {
                s64 end = READ_ONCE(of->until), begin;
                smp_rmb();
                begin = READ_ONCE(of->from);
                if (begin < from) begin = from;
                if (end > until) end = until;
                if (end - begin > throttle->until - throttle->from) {
                    throttle->from = begin;
                    throttle->until = end;
                    throttle->cgroup = css ? stapgen_cgroup_id(STAPGEN_TRY_POINTER(struct cgroup, &css->cgroup)) : 0;
                }
            }
            se = STAPGEN_TRY_POINTER(struct sched_entity, &se->parent);
#if LINUX_VERSION_CODE >= KERNEL_VERSION(3, 12, 0)
            if (css) css = STAPGEN_TRY_POINTER(struct cgroup_subsys_state, &css->parent);
#else
            css = NULL;
#endif
        }
    }
#endif
}

#endif
