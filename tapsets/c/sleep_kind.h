/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a thread goes to sleep for, by the system call in which it does: at its switch its registers have the call's
 * number and its arguments, and no call need be probed. */
#ifndef STAPGEN_SLEEP_KIND_H
#define STAPGEN_SLEEP_KIND_H

#include <asm/syscall.h>
#include <asm/unistd.h>
#include <linux/compat.h>
#include <linux/dcache.h>
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/net.h>
#include <linux/pid.h>
#include <linux/ptrace.h>

#include "causes.h"
#include "path.h"
#include "reader.h"
#include "thread_time.h"
#include "user_memory.h"
#include "who_request.h"

/* For one of several things: whoever wakes it knows which. Of those that last until something comes no timer does. */
enum { STAPGEN_POLLS = STAPGEN_APP_CAUSES, STAPGEN_POLLS_FOREVER };
struct stapgen_sleep {
    u32 kind;                         /* enum stapgen_app_wait, or of the above */
    unsigned long sk;                 /* that it sleeps for, if it is one of TCP or UDP */
    const struct task_struct* holder; /* of the lock; NULL: not known */
    struct stapgen_thing thing;
};

static inline void stapgen_sleeps_for_sock(struct stapgen_sleep* sleep, const struct sock* sk, const void** fault) {
    u16 family = STAPGEN_READ(&sk->__sk_common.skc_family, fault);
    if (family == AF_INET || family == AF_INET6) {
        sleep->sk = (unsigned long)sk;
    } else if (family == AF_UNIX) {
        sleep->kind = STAPGEN_APP_WAIT_process;
        sleep->thing.form = STAPGEN_THING_UNIX;
    }
}
/* The name of a file, without its folders, and the device that it is on. */
static inline void stapgen_name_file(struct stapgen_thing* thing, const struct file* file, const struct inode* inode,
                                     const void** fault) {
    const struct dentry* dentry = STAPGEN_READ(&file->f_path.dentry, fault);
    const struct super_block* super = STAPGEN_READ(&inode->i_sb, fault);
    const unsigned char* name;
    if (!dentry || !super || *fault) return;
    name = STAPGEN_READ(&dentry->d_name.name, fault);
    thing->what = STAPGEN_READ(&super->s_dev, fault);
    if (*fault) return;
    stapgen_read_text((char*)thing->name, sizeof(thing->name), (const char*)name, fault);
    thing->form = STAPGEN_THING_FILE;
}
/* The file of a call's first argument. */
static inline void stapgen_sleeps_for_file(struct stapgen_sleep* sleep, unsigned long fd, const void** fault) {
    const struct files_struct* files = current->files;
    const struct fdtable* table = files ? STAPGEN_READ(&files->fdt, fault) : NULL;
    const struct file* file = NULL;
    const struct inode* inode;
    umode_t mode;
    if (table && fd < STAPGEN_READ(&table->max_fds, fault)) {
        struct file* const* all = (struct file* const*)STAPGEN_READ(&table->fd, fault);
        file = STAPGEN_READ(all + fd, fault);
    }
    if (!file || *fault) return;
    inode = STAPGEN_READ(&file->f_inode, fault);
    mode = STAPGEN_READ(&inode->i_mode, fault);
    if (S_ISREG(mode) || S_ISBLK(mode) || S_ISDIR(mode)) {
        sleep->kind = STAPGEN_APP_WAIT_disk;
        stapgen_name_file(&sleep->thing, file, inode, fault);
    } else if (S_ISSOCK(mode)) {
        const struct socket* socket = (const struct socket*)STAPGEN_READ(&file->private_data, fault);
        if (socket && !*fault) stapgen_sleeps_for_sock(sleep, STAPGEN_READ(&socket->sk, fault), fault);
    } else if (S_ISFIFO(mode) || !(mode & S_IFMT)) { /* or an eventfd */
        sleep->kind = STAPGEN_APP_WAIT_process;
        sleep->thing.form = STAPGEN_THING_PIPE;
    }
}
/* The file is locked by another process. */
static inline void stapgen_sleeps_for_file_lock(struct stapgen_sleep* sleep, unsigned long fd, const void** fault) {
    stapgen_sleeps_for_file(sleep, fd, fault);
    sleep->kind = STAPGEN_APP_WAIT_kernel_lock;
}
/* The thread that a number in this process's memory says. NULL: there is none of this process. */
static inline const struct task_struct* stapgen_thread_of_process(u32 tid) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 8, 0)
    const struct task_struct* task;
    if (!tid) return NULL;
    rcu_read_lock(); /* for lockdep: what keeps the task is that nothing preempts this handler */
    task = pid_task(find_vpid((int)tid), PIDTYPE_PID);
    rcu_read_unlock();
    return task && task->tgid == current->tgid && task != current ? task : NULL;
#else
    return NULL;
#endif
}
/* A mutex of glibc and others has 2 in it where threads wait, and glibc's has the owner's number at its third word
 * (sysdeps/nptl/bits/struct_mutex.h); of PI mutexes and musl's it is in the word itself. Other words with a 2 may be
 * locks without that: what is read there is taken only if it is another thread of the process.
 * include/uapi/linux/futex.h has the numbers. */
static inline void stapgen_sleeps_for_futex(struct stapgen_sleep* sleep, unsigned long word, unsigned long op,
                                            unsigned long value) {
    enum { WAIT = 0, LOCK_PI = 6, LOCK_PI2 = 13, FLAGS = 128 | 256, CONTENDED = 2, OWNER = 8 };
    u32 is_pi, tid = 0;
    op &= ~(unsigned long)FLAGS;
    is_pi = op == LOCK_PI || op == LOCK_PI2;
    sleep->kind = STAPGEN_APP_WAIT_futex;
    sleep->thing.form = STAPGEN_THING_FUTEX;
    sleep->thing.what = word;
    if (op == WAIT && (u32)value != CONTENDED) {
        enum { TID = 0x3fffffff };
        if ((u32)value >> 31) sleep->holder = stapgen_thread_of_process((u32)value & TID);
        if (sleep->holder) sleep->kind = STAPGEN_APP_WAIT_lock;
    } else if (is_pi || op == WAIT) {
        sleep->kind = STAPGEN_APP_WAIT_lock;
        if (!stapgen_read_user(&tid, word + (is_pi ? 0 : OWNER), sizeof(tid))) tid = 0;
        sleep->holder = stapgen_thread_of_process(is_pi ? tid & 0x3fffffff : tid);
    }
    if (sleep->holder) {
        sleep->thing.holder_tid = (u32)sleep->holder->pid;
        memcpy(sleep->thing.holder_comm, sleep->holder->comm, sizeof(sleep->thing.holder_comm));
    }
}
/* Unless no time was given to it: an argument that is a pointer to one, or ms, below 0 for ever. */
static inline u32 stapgen_polls_until(unsigned long time, int is_ms) {
    return (is_ms ? (int)time < 0 : !time) ? STAPGEN_POLLS_FOREVER : STAPGEN_POLLS;
}
static inline void stapgen_sleeps_in_call(struct stapgen_sleep* sleep, long call, const unsigned long* argument,
                                          const void** fault) {
    enum { SETLKW = 7, OFD_SETLKW = 38 }; /* include/uapi/asm-generic/fcntl.h */
    switch (call) {
        case __NR_futex:
            stapgen_sleeps_for_futex(sleep, argument[0], argument[1], argument[2]);
            break;
#ifdef __NR_futex_waitv
        case __NR_futex_waitv:
            sleep->kind = STAPGEN_APP_WAIT_futex;
            break;
#endif
#ifdef __NR_epoll_wait
        case __NR_epoll_wait:
#endif
        case __NR_epoll_pwait:
            sleep->kind = stapgen_polls_until(argument[3], 1);
            break;
#ifdef __NR_epoll_pwait2
        case __NR_epoll_pwait2:
            sleep->kind = stapgen_polls_until(argument[3], 0);
            break;
#endif
#ifdef __NR_poll
        case __NR_poll:
            sleep->kind = stapgen_polls_until(argument[2], 1);
            break;
#endif
        case __NR_ppoll:
            sleep->kind = stapgen_polls_until(argument[2], 0);
            break;
#ifdef __NR_select
        case __NR_select:
#endif
        case __NR_pselect6:
            sleep->kind = stapgen_polls_until(argument[4], 0);
            break;
#ifdef __NR_io_uring_enter
        case __NR_io_uring_enter: /* whatever it is for, in_iowait is set */
            sleep->kind = STAPGEN_POLLS_FOREVER;
            break;
#endif
        case __NR_nanosleep:
        case __NR_clock_nanosleep:
            sleep->kind = STAPGEN_APP_WAIT_timer;
            break;
        case __NR_wait4:
        case __NR_waitid:
            sleep->kind = STAPGEN_APP_WAIT_process;
            sleep->thing.form = STAPGEN_THING_CHILD;
            break;
        case __NR_fsync:
        case __NR_fdatasync:
        case __NR_sync_file_range:
            stapgen_sleeps_for_file(sleep, argument[0], fault);
            break;
        case __NR_msync:
        case __NR_sync:
        case __NR_syncfs:
            sleep->kind = STAPGEN_APP_WAIT_disk;
            break;
        case __NR_flock:
            stapgen_sleeps_for_file_lock(sleep, argument[0], fault);
            break;
        case __NR_fcntl:
            if (argument[1] == SETLKW || argument[1] == OFD_SETLKW)
                stapgen_sleeps_for_file_lock(sleep, argument[0], fault);
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
/* What its call does not say, its path does: the innermost function is a lock's, else the outermost that is known. */
static inline void stapgen_sleeps_by_path(struct stapgen_sleep* sleep, int is_memory) {
    unsigned long* frame = STAPGEN_THIS_CPU(stapgen_raw_stacks)->frame;
    u32 size = stapgen_save_stack(frame, STAPGEN_RAW_FRAMES), i = stapgen_skip_tracing(frame, size), known = 0;
    if (i < size && stapgen_frame_kind_of(frame[i]) == STAPGEN_LOCKING_FRAME) {
        sleep->kind = STAPGEN_APP_WAIT_kernel_lock;
        sleep->thing.form = STAPGEN_THING_FUNCTION;
        sleep->thing.what = frame[i];
        return;
    }
    for (; i < size; i++) {
        enum stapgen_frame_kind kind = stapgen_frame_kind_of(frame[i]);
        if (kind == STAPGEN_INTERRUPT_FRAME) break;
        if (kind >= STAPGEN_DISK_FRAME) known = kind;
    }
    if (known == STAPGEN_SWAP_FRAME)
        sleep->kind = STAPGEN_APP_WAIT_swap;
    else if (known == STAPGEN_DISK_FRAME)
        sleep->kind = STAPGEN_APP_WAIT_disk;
    else if (known == STAPGEN_MEMORY_FRAME || is_memory)
        sleep->kind = STAPGEN_APP_WAIT_memory;
    else if (known == STAPGEN_USERFAULT_FRAME)
        sleep->kind = STAPGEN_APP_WAIT_process;
}
/* Whether it is short of memory, by its own account: also while a page of a file is read back that was evicted. */
static inline int stapgen_stalls_for_memory(const struct task_struct* task) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 13, 0) && defined(CONFIG_PSI)
    return task->in_memstall;
#else
    return 0;
#endif
}
static inline void stapgen_name_call(struct stapgen_sleep* sleep, long call) {
    if (call < 0 || stapgen_is_of_32_bits()) return;
    sleep->thing.form = STAPGEN_THING_CALL;
    sleep->thing.what = (u64)call;
}
/* TASK is this thread, on its way to sleep. */
static inline void stapgen_sleep_of_this(struct stapgen_sleep* sleep, const struct task_struct* task) {
    const struct stapgen_thread* thread =
        (const struct stapgen_thread*)stapgen_find(stapgen_threads, stapgen_this_thread_key());
    struct pt_regs* regs = task_pt_regs((struct task_struct*)task);
    unsigned long argument[6] = {0, 0, 0, 0, 0, 0};
    const void* fault = NULL;
    int is_memory = stapgen_stalls_for_memory(task);
    long call;
    memset(sleep, 0, sizeof(*sleep));
    sleep->kind = STAPGEN_APP_WAIT_asleep;
    call = syscall_get_nr((struct task_struct*)task, regs);
    if (stapgen_is_stopped(task)) { /* by its tracer, or a signal */
        stapgen_name_call(sleep, call);
        return;
    }
    if (thread) sleep->sk = READ_ONCE(thread->sk);
    if (sleep->sk || task->flags & PF_KTHREAD) return;
    if (call >= 0) { /* else it is in a page fault, or an interrupt, which looks like a call of x32, too */
        if (stapgen_is_of_32_bits()) return;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 1, 0)
        syscall_get_arguments((struct task_struct*)task, regs, argument);
#else
        syscall_get_arguments((struct task_struct*)task, regs, 0, 6, argument);
#endif
        stapgen_sleeps_in_call(sleep, call, argument, &fault);
    }
    if (is_memory || sleep->kind == STAPGEN_APP_WAIT_asleep ||
        (sleep->kind == STAPGEN_APP_WAIT_disk && !task->in_iowait))
        stapgen_sleeps_by_path(sleep, is_memory);
    if (sleep->kind == STAPGEN_APP_WAIT_asleep && task->in_iowait) sleep->kind = STAPGEN_APP_WAIT_disk;
    if (sleep->kind == STAPGEN_APP_WAIT_asleep) stapgen_name_call(sleep, call);
}

#endif
