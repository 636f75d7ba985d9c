/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each CPU has for itself. Not the kernel's own per-CPU data: all modules together have 8 KB of that, and that
 * many runs at a time could not be loaded. */
#ifndef STAPGEN_PER_CPU_H
#define STAPGEN_PER_CPU_H

#include <linux/smp.h>
#include <linux/threads.h>

enum { STAPGEN_CPUS = NR_CPUS < 1024 ? NR_CPUS : 1024 };
#define STAPGEN_PER_CPU(type, name) \
    static struct name##_of_cpu { type value; } ____cacheline_aligned name[STAPGEN_CPUS]
#define STAPGEN_CPU(cpu) ((unsigned)(cpu) % STAPGEN_CPUS)
#define STAPGEN_OF_CPU(name, cpu) (&name[STAPGEN_CPU(cpu)].value)
#define STAPGEN_THIS_CPU(name) STAPGEN_OF_CPU(name, smp_processor_id())

#endif
