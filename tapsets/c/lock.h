/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A lock, held for some hundred instructions in which nothing is read of the kernel, nothing printed, and no other lock
 * taken, with interrupts off (INTERRUPTIBLE=0). One bit: it needs no initialising, and there may be thousands. */
#ifndef STAPGEN_LOCK_H
#define STAPGEN_LOCK_H

#include <linux/bitops.h>
#include <linux/sched.h>

struct stapgen_lock {
    unsigned long bit;
};

/* A bit is no lock to lockdep. All of ours are one to it, as none is taken while another one is held. */
#ifdef CONFIG_LOCKDEP
#include <linux/lockdep.h>
static struct lock_class_key stapgen_lock_key;
static struct lockdep_map stapgen_lock_map = STATIC_LOCKDEP_MAP_INIT("stapgen_lock", &stapgen_lock_key);
#define STAPGEN_LOCKDEP(what) lock_map_##what(&stapgen_lock_map)
#else
#define STAPGEN_LOCKDEP(what) ((void)0)
#endif

static inline void stapgen_lock(struct stapgen_lock* lock) {
    STAPGEN_LOCKDEP(acquire);
    while (test_and_set_bit_lock(0, &lock->bit))
        cpu_relax();
}
static inline void stapgen_unlock(struct stapgen_lock* lock) {
    clear_bit_unlock(0, &lock->bit);
    STAPGEN_LOCKDEP(release);
}

#endif
