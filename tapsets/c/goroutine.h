/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Goroutines, which threads of a Go program take turns to run. The one that runs is in a register (R14, of arm64 R28:
 * Go's ABIInternal, since 1.17), and begins with the bounds of its stack (runtime.g in runtime2.go). Whether there is
 * one is seen by that: the stack pointer of the call is in these bounds. No file need be looked at for it, and what is
 * no goroutine in a program of another language has such bounds only if it is what has a stack there, too. */
#ifndef STAPGEN_GOROUTINE_H
#define STAPGEN_GOROUTINE_H

#include <linux/hardirq.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

#include "user_memory.h"

/* The one that this thread runs, by its address in the process; 0: none. */
static inline unsigned long stapgen_goroutine_of_this(void) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 8, 0) && (defined(CONFIG_X86_64) || defined(CONFIG_ARM64))
    enum { LARGEST_SHIFT = 30 }; /* of a stack: runtime/debug.SetMaxStack */
    const struct pt_regs* regs = task_pt_regs(current);
    unsigned long bounds[2], goroutine, sp;
    if (current->flags & PF_KTHREAD || in_interrupt()) return 0;
#ifdef CONFIG_X86_64
    goroutine = regs->r14;
    sp = regs->sp;
#else
    goroutine = regs->regs[28];
    sp = regs->sp;
#endif
    if (!goroutine || goroutine % sizeof(long)) return 0;
    if (!stapgen_read_user(bounds, goroutine, sizeof(bounds))) return 0;
    if (bounds[0] < sp && sp <= bounds[1] && !((bounds[1] - bounds[0]) >> LARGEST_SHIFT)) return goroutine;
#endif
    return 0;
}

#endif
