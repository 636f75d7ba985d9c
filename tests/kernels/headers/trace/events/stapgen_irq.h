// SPDX-License-Identifier: GPL-2.0-or-later
// As stapgen.h: interrupts and softirqs. The latter had their place in the table until 2.6.38 (EL6's softirq_raise is a
// backport of that time).
struct irqaction;
struct softirq_action;

#if KERNEL > 206
#define SOFTIRQ_ARGUMENTS PARAMS(unsigned int vec_nr)
#else
#define SOFTIRQ_ARGUMENTS PARAMS(struct softirq_action* h, struct softirq_action* vec)
#endif

#ifdef TRACE_irq_handler_entry
DECLARE_TRACE(irq_handler_entry, PARAMS(int irq, struct irqaction* action), )
#endif
#ifdef TRACE_irq_handler_exit
DECLARE_TRACE(irq_handler_exit, PARAMS(int irq, struct irqaction* action, int ret), )
#endif
#ifdef TRACE_softirq_raise
DECLARE_TRACE(softirq_raise, SOFTIRQ_ARGUMENTS, )
#endif
#ifdef TRACE_softirq_entry
DECLARE_TRACE(softirq_entry, SOFTIRQ_ARGUMENTS, )
#endif
#ifdef TRACE_softirq_exit
DECLARE_TRACE(softirq_exit, SOFTIRQ_ARGUMENTS, )
#endif
