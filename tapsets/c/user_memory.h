/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading this thread's own memory, which may be gone, in an interrupt or where interrupts are off. */
#ifndef STAPGEN_USER_MEMORY_H
#define STAPGEN_USER_MEMORY_H

#include <linux/sched.h>
#include <linux/uaccess.h>
#include <linux/version.h>

/* Whether SIZE bytes were read. copy_from_user_nofault() is exported from 5.8 on. */
static inline int stapgen_read_user(void* to, unsigned long from, size_t size) {
    if (from >= TASK_SIZE - size) return 0;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 8, 0)
    return !copy_from_user_nofault(to, (const void __user*)from, size);
#else
    {
        unsigned long left;
        pagefault_disable();
        left = __copy_from_user_inatomic(to, (const void __user*)from, size);
        pagefault_enable();
        return !left;
    }
#endif
}

#endif
