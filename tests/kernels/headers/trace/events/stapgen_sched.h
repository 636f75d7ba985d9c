// SPDX-License-Identifier: GPL-2.0-or-later
// As stapgen.h: threads and CPUs.
struct task_struct;
struct rq;
struct pt_regs;

#ifdef TRACE_sys_enter
DECLARE_TRACE(sys_enter, PARAMS(struct pt_regs* regs, long id), )
#endif
#ifdef TRACE_sys_exit
DECLARE_TRACE(sys_exit, PARAMS(struct pt_regs* regs, long ret), )
#endif

#ifdef TRACE_sched_waking
DECLARE_TRACE(sched_waking, PARAMS(struct task_struct* p), )
#endif
#ifdef TRACE_sched_wakeup
#if KERNEL >= 403
DECLARE_TRACE(sched_wakeup, PARAMS(struct task_struct* p), )
#elif KERNEL > 206
DECLARE_TRACE(sched_wakeup, PARAMS(struct task_struct* p, int success), )
#else
DECLARE_TRACE(sched_wakeup, PARAMS(struct rq* rq, struct task_struct* p, int success), )
#endif
#endif
#ifdef TRACE_sched_migrate_task
DECLARE_TRACE(sched_migrate_task, PARAMS(struct task_struct* p, int dest_cpu), )
#endif
#ifdef TRACE_sched_switch
#if KERNEL >= 518 || defined(EL9)
DECLARE_TRACE(sched_switch,
              PARAMS(_Bool preempt, struct task_struct* prev, struct task_struct* next, unsigned int state), )
#elif KERNEL >= 404
DECLARE_TRACE(sched_switch, PARAMS(_Bool preempt, struct task_struct* prev, struct task_struct* next), )
#elif KERNEL > 206
DECLARE_TRACE(sched_switch, PARAMS(struct task_struct* prev, struct task_struct* next), )
#else
DECLARE_TRACE(sched_switch, PARAMS(struct rq* rq, struct task_struct* prev, struct task_struct* next), )
#endif
#endif
