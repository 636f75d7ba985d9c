/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a thread goes to sleep for, by the system call in which it does: at its switch its registers have the call's
 * number and its arguments, and no call need be probed. */
#ifndef STAPGEN_SLEEP_KIND_H
#define STAPGEN_SLEEP_KIND_H

#include <asm/syscall.h>
#include <asm/unistd.h>
#include <linux/compat.h>
#include <linux/fdtable.h>
#include <linux/net.h>
#include <linux/ptrace.h>

#include "causes.h"
#include "reader.h"

/* For one of several things: whoever wakes it knows which. */
enum { STAPGEN_POLLS = STAPGEN_APP_CAUSES };
struct stapgen_sleep {
    u32 kind;
    unsigned long sk; /* that it sleeps for, if it is one of TCP or UDP */
};

static inline void stapgen_sleeps_for_sock(struct stapgen_sleep* sleep, const struct sock* sk, const void** fault) {
    u16 family = STAPGEN_READ(&sk->__sk_common.skc_family, fault);
    if (family == AF_INET || family == AF_INET6)
        sleep->sk = (unsigned long)sk;
    else if (family == AF_UNIX)
        sleep->kind = STAPGEN_APP_WAIT_process;
}
/* The file of a call's first argument. */
static inline void stapgen_sleeps_for_file(struct stapgen_sleep* sleep, unsigned long fd, const void** fault) {
    const struct files_struct* files = current->files;
    const struct fdtable* table = files ? STAPGEN_READ(&files->fdt, fault) : NULL;
    const struct file* file = NULL;
    umode_t mode;
    if (table && fd < STAPGEN_READ(&table->max_fds, fault)) {
        struct file* const* all = (struct file* const*)STAPGEN_READ(&table->fd, fault);
        file = STAPGEN_READ(all + fd, fault);
    }
    if (!file || *fault) return;
    mode = STAPGEN_READ(&STAPGEN_READ(&file->f_inode, fault)->i_mode, fault);
    if (S_ISREG(mode) || S_ISBLK(mode) || S_ISDIR(mode)) {
        sleep->kind = STAPGEN_APP_WAIT_disk;
    } else if (S_ISSOCK(mode)) {
        const struct socket* socket = (const struct socket*)STAPGEN_READ(&file->private_data, fault);
        if (socket && !*fault) stapgen_sleeps_for_sock(sleep, STAPGEN_READ(&socket->sk, fault), fault);
    } else if (S_ISFIFO(mode) || !(mode & S_IFMT)) { /* or an eventfd */
        sleep->kind = STAPGEN_APP_WAIT_process;
    }
}
/* A mutex of glibc and others has 2 in it where threads wait; include/uapi/linux/futex.h has the numbers. */
static inline u32 stapgen_futex_kind(unsigned long op, unsigned long value) {
    enum { WAIT = 0, LOCK_PI = 6, WAIT_BITSET = 9, LOCK_PI2 = 13, FLAGS = 128 | 256, CONTENDED = 2 };
    op &= ~(unsigned long)FLAGS;
    if (op == LOCK_PI || op == LOCK_PI2 || (op == WAIT && (u32)value == CONTENDED)) return STAPGEN_APP_WAIT_lock;
    return STAPGEN_APP_WAIT_futex;
}
static inline void stapgen_sleeps_in_call(struct stapgen_sleep* sleep, long call, const unsigned long* argument,
                                          const void** fault) {
    switch (call) {
        case __NR_futex:
            sleep->kind = stapgen_futex_kind(argument[1], argument[2]);
            break;
#ifdef __NR_futex_waitv
        case __NR_futex_waitv:
            sleep->kind = STAPGEN_APP_WAIT_futex;
            break;
#endif
#ifdef __NR_epoll_wait
        case __NR_epoll_wait:
#endif
#ifdef __NR_epoll_pwait2
        case __NR_epoll_pwait2:
#endif
#ifdef __NR_poll
        case __NR_poll:
#endif
#ifdef __NR_select
        case __NR_select:
#endif
        case __NR_epoll_pwait:
        case __NR_ppoll:
        case __NR_pselect6:
            sleep->kind = STAPGEN_POLLS;
            break;
        case __NR_nanosleep:
        case __NR_clock_nanosleep:
            sleep->kind = STAPGEN_APP_WAIT_timer;
            break;
        case __NR_wait4:
        case __NR_waitid:
            sleep->kind = STAPGEN_APP_WAIT_process;
            break;
        case __NR_fsync:
        case __NR_fdatasync:
        case __NR_sync_file_range:
        case __NR_msync:
        case __NR_sync:
        case __NR_syncfs:
            sleep->kind = STAPGEN_APP_WAIT_disk;
            break;
        case __NR_connect:
            sleep->kind = STAPGEN_APP_WAIT_server;
            break;
        case __NR_accept:
        case __NR_accept4:
            sleep->kind = STAPGEN_APP_WAIT_other_sockets;
            break;
        case __NR_read:
        case __NR_pread64:
        case __NR_readv:
        case __NR_preadv:
        case __NR_preadv2:
        case __NR_write:
        case __NR_pwrite64:
        case __NR_writev:
        case __NR_pwritev:
        case __NR_pwritev2:
        case __NR_recvfrom:
        case __NR_recvmsg:
        case __NR_recvmmsg:
        case __NR_sendto:
        case __NR_sendmsg:
        case __NR_sendmmsg:
            stapgen_sleeps_for_file(sleep, argument[0], fault);
            break;
    }
}
/* Other numbers, and other arguments. */
static inline int stapgen_is_of_32_bits(void) {
#ifdef CONFIG_COMPAT
#if LINUX_VERSION_CODE >= KERNEL_VERSION(4, 6, 0)
    return in_compat_syscall();
#else
    return is_compat_task();
#endif
#else
    return 0;
#endif
}
/* TASK is this thread, on its way to sleep. */
static inline void stapgen_sleep_of_this(struct stapgen_sleep* sleep, const struct task_struct* task) {
    const struct stapgen_thread* thread =
        (const struct stapgen_thread*)stapgen_find(stapgen_threads, stapgen_this_thread_key());
    struct pt_regs* regs = task_pt_regs((struct task_struct*)task);
    const void* fault = NULL;
    sleep->kind = task->in_iowait ? STAPGEN_APP_WAIT_disk : STAPGEN_APP_WAIT_asleep;
    sleep->sk = thread ? thread->sk : 0; /* in a receiving call of TCP */
    if (sleep->sk || task->flags & PF_KTHREAD || stapgen_is_of_32_bits()) return;
    {
        unsigned long argument[6] = {0, 0, 0, 0, 0, 0};
        long call = syscall_get_nr((struct task_struct*)task, regs);
        if (call < 0) return; /* a page fault, or an interrupt */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 1, 0)
        syscall_get_arguments((struct task_struct*)task, regs, argument);
#else
        syscall_get_arguments((struct task_struct*)task, regs, 0, 6, argument);
#endif
        stapgen_sleeps_in_call(sleep, call, argument, &fault);
    }
}

#endif
