/* A lock, held for some hundred instructions in which nothing is read of the kernel, nothing printed, and no other lock
 * taken. One bit: it needs no initialising, and there may be thousands. */
#ifndef STAPGEN_LOCK_H
#define STAPGEN_LOCK_H

#include <linux/bitops.h>
#include <linux/sched.h>

struct stapgen_lock {
    unsigned long bit;
};

static inline void stapgen_lock(struct stapgen_lock* lock) {
    while (test_and_set_bit_lock(0, &lock->bit))
        cpu_relax();
}
static inline void stapgen_unlock(struct stapgen_lock* lock) {
    clear_bit_unlock(0, &lock->bit);
}

#endif
