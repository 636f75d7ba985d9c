// SPDX-License-Identifier: GPL-2.0-or-later
/* The few things of the kernel that tapsets/c uses, for programs: a CPU is a thread, and what is forbidden ends the
 * program. Included by empty files of the kernel's names in shim/linux and so on, as C++ or, to be compiled only, as C.
 */
#ifndef KERNEL_SHIM_H
#define KERNEL_SHIM_H

#include <arpa/inet.h>
#include <endian.h>
#include <linux/types.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef int32_t s32;
/* As the kernel's: %lld and %llu print them. */
typedef long long s64;
typedef unsigned long long u64;

#ifndef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif
#define __percpu
#define ____cacheline_aligned __attribute__((aligned(64)))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define LINUX_VERSION_CODE KERNEL_VERSION(6, 12, 0)
#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + (c))
#define CONFIG_X86_64 1
#define BITS_PER_LONG 64
#define BITS_TO_LONGS(bits) (((bits) + BITS_PER_LONG - 1) / BITS_PER_LONG)
/* Sparse knows a number of the network's from others. */
#ifdef __CHECKER__
#define __force __attribute__((force))
#else
#define __force
#endif
static inline u16 shim_be16_to_cpu(__be16 number) {
    return be16toh((__force u16)number);
}
static inline u32 shim_be32_to_cpu(__be32 number) {
    return be32toh((__force u32)number);
}
static inline u64 be64_to_cpu(__be64 number) {
    return be64toh((__force u64)number);
}
#undef ntohs
#undef ntohl
#define ntohs shim_be16_to_cpu
#define ntohl shim_be32_to_cpu
#define do_div(number, by)                  \
    ({                                      \
        u32 _rest = (u32)((number) % (by)); \
        (number) /= (by);                   \
        _rest;                              \
    })
#define scnprintf(...) ((int)snprintf(__VA_ARGS__))

/* ---- CPUs ---- */

enum { SHIM_CPUS = 8, NR_CPUS = 64 };
#define num_possible_cpus() ((unsigned)SHIM_CPUS)
#ifdef __cplusplus
#define SHIM_OF_CPP(initializer) initializer
#define SHIM_THREAD_LOCAL inline thread_local
#else
#define SHIM_OF_CPP(initializer)
#define SHIM_THREAD_LOCAL static _Thread_local
#endif
SHIM_THREAD_LOCAL int shim_cpu;
SHIM_THREAD_LOCAL int shim_serving_softirq;
#define in_serving_softirq() (shim_serving_softirq)
SHIM_THREAD_LOCAL int shim_hardirq;
#define hardirq_count() (shim_hardirq)
#define in_softirq() (shim_serving_softirq)
#define in_interrupt() (shim_hardirq || shim_serving_softirq)
#define smp_processor_id() (shim_cpu)
#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < SHIM_CPUS; (cpu)++)
/* Where CPUs may stop for a while: the tests with threads say when. */
#ifdef SHIM_PAUSES
void shim_pause();
#else
static inline void shim_pause(void) {}
#endif

#define READ_ONCE(x) (shim_pause(), __atomic_load_n(&(x), __ATOMIC_RELAXED))
#define WRITE_ONCE(x, value) (shim_pause(), __atomic_store_n(&(x), (__typeof__(x))(value), __ATOMIC_RELAXED))
#define cmpxchg(p, old, value)                                                                                     \
    ({                                                                                                             \
        __typeof__(*(p)) _old = (__typeof__(*(p)))(old);                                                           \
        shim_pause();                                                                                              \
        __atomic_compare_exchange_n((p), &_old, (__typeof__(*(p)))(value), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        _old;                                                                                                      \
    })
static inline void cpu_relax(void) {
#if defined(SHIM_PAUSES)
    shim_pause();
#else
    __builtin_ia32_pause();
#endif
}

static inline int fls64(u64 value) {
    return value ? 64 - __builtin_clzll(value) : 0;
}
static inline unsigned hweight32(u32 value) {
    return (unsigned)__builtin_popcount(value);
}
static inline unsigned long __ffs(unsigned long value) {
    return (unsigned long)__builtin_ctzl(value);
}
static inline int test_bit(int bit, const volatile unsigned long* words) {
    return words[bit / BITS_PER_LONG] >> bit % BITS_PER_LONG & 1;
}
static inline int test_and_set_bit(int bit, unsigned long* word) {
    return __atomic_fetch_or(word, 1UL << bit, __ATOMIC_SEQ_CST) >> bit & 1;
}
static inline void set_bit(int bit, unsigned long* word) {
    __atomic_fetch_or(word, 1UL << bit, __ATOMIC_SEQ_CST);
}
static inline void clear_bit(int bit, unsigned long* word) {
    __atomic_fetch_and(word, ~(1UL << bit), __ATOMIC_SEQ_CST);
}
#define smp_wmb() __atomic_thread_fence(__ATOMIC_RELEASE)
#define smp_rmb() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#define max_t(type, a, b) ((type)(a) > (type)(b) ? (type)(a) : (type)(b))
#define min_t(type, a, b) ((type)(a) < (type)(b) ? (type)(a) : (type)(b))
static inline void __set_bit(int bit, unsigned long* words) {
    unsigned long* word = &words[bit / BITS_PER_LONG];
    __atomic_store_n(word, *word | 1UL << bit % BITS_PER_LONG, __ATOMIC_RELAXED);
}

/* ---- rules: with a lock held nothing of the kernel is read, nothing printed, and no other lock taken ---- */

SHIM_THREAD_LOCAL int shim_held;
void shim_broke_rule(const char* rule);
static inline void shim_expect_no_lock(const char* what) {
    if (shim_held) shim_broke_rule(what);
}
static inline int test_and_set_bit_lock(int bit, unsigned long* word) {
    shim_expect_no_lock("another lock is taken");
    shim_pause();
    if (__atomic_fetch_or(word, 1UL << bit, __ATOMIC_ACQUIRE) >> bit & 1) return 1;
    shim_held = 1;
    return 0;
}
static inline void clear_bit_unlock(int bit, unsigned long* word) {
    if (!shim_held) shim_broke_rule("a lock is given back that is not held");
    shim_held = 0;
    __atomic_fetch_and(word, ~(1UL << bit), __ATOMIC_RELEASE);
}

s64 shim_now(void);
static inline u64 ktime_get_ns(void) {
    return (u64)shim_now();
}
static inline u64 local_clock(void) {
    return (u64)shim_now();
}

/* What a test calls bad memory. */
int shim_is_bad(const void* address);
static inline int shim_cannot_read(const void* address) {
    shim_expect_no_lock("kernel memory is read");
    return shim_is_bad(address);
}
#define PAGE_OFFSET 4096UL
#define __get_kernel_nofault(to, from, type, bad)        \
    do {                                                 \
        if (shim_cannot_read(from)) goto bad;            \
        memcpy((to), (const void*)(from), sizeof(type)); \
    } while (0)

void shim_print(const char* text);
static inline void _stp_print(const char* text) {
    shim_expect_no_lock("something is printed");
    shim_print(text);
}
void shim_hand_over(void);
static inline void _stp_print_flush(void) {
    shim_hand_over();
}
static inline void _stp_printf(const char* format, const char* text) {
    (void)format;
    _stp_print(text);
    _stp_print("\n");
}

#define STAP_VERSION(a, b) (((a) << 8) + (b))
#define STAP_COMPAT_VERSION STAP_VERSION(5, 1)
bool shim_takes_text(void);
static inline bool _stp_print_trylock_irqsave(unsigned long* flags) {
    shim_expect_no_lock("something is printed");
    *flags = 0;
    return shim_takes_text();
}
static inline void _stp_print_unlock_irqrestore(unsigned long* flags) {
    (void)flags;
}
void* _stp_reserve_bytes(int bytes);
void _stp_unreserve_bytes(int bytes);

#define module_param_array(name, type, count, mode)

/* Call paths, and the names of functions in them. */
struct module {
    char name[56];
};
extern struct module shim_module;
#define THIS_MODULE (&shim_module)
#define STAPCONF_STACK_TRACE_SAVE_REGS 1
unsigned int stack_trace_save(unsigned long* frame, unsigned int size, unsigned int skip);
void shim_name_function(char* name, size_t size, unsigned long address);
#define STAPGEN_NAME_FUNCTION(name, address) shim_name_function((name), STAPGEN_FUNCTION_NAME, (address))

/* ---- structures ---- */

#define CONFIG_CGROUPS 1
#define CONFIG_SCHED_INFO 1
struct sched_info {
    unsigned long pcount;
    unsigned long long run_delay, last_arrival, last_queued;
};
#define CONFIG_FAIR_GROUP_SCHED 1
#define CONFIG_CFS_BANDWIDTH 1
struct cfs_rq;
struct sched_entity {
    u64 exec_start, sum_exec_runtime;
    struct sched_entity* parent;
    struct cfs_rq* cfs_rq;
};
struct cgroup;
struct cgroup_subsys_state {
    struct cgroup* cgroup;
    struct cgroup_subsys_state* parent;
};
enum { cpu_cgrp_id };
struct css_set {
    struct cgroup_subsys_state* subsys[1];
};
struct irqaction {
    const char* name;
};
/* A system call, and its arguments; below 0: it is in none. */
struct pt_regs {
    unsigned long r14;
    long call;
    unsigned long argument[6];
    unsigned long ip, sp, bp; /* of its own code */
};
#define instruction_pointer(regs) ((regs)->ip)
#define user_stack_pointer(regs) ((regs)->sp)
#define TASK_SIZE (1UL << 47)
#define TIF_ADDR32 29
SHIM_THREAD_LOCAL int shim_is_of_32_bits;
#define test_thread_flag(flag) shim_is_of_32_bits
#define __user
static inline long copy_from_user_nofault(void* to, const void* from, size_t size) {
    if ((unsigned long)from < 4096 || shim_is_bad(from)) return -14;
    memcpy(to, from, size);
    return 0;
}
#define syscall_get_nr(task, regs) ((regs)->call)
#define syscall_get_arguments(task, regs, to) memcpy((to), (regs)->argument, sizeof((regs)->argument))
#define in_compat_syscall() 0
#define CONFIG_COMPAT 1
#define PF_KTHREAD 0x00200000
struct super_block {
    unsigned int s_dev;
};
struct inode {
    unsigned short i_mode;
    struct super_block* i_sb;
};
struct qstr {
    const unsigned char* name;
};
struct dentry {
    struct qstr d_name;
};
struct path {
    struct dentry* dentry;
};
struct file {
    struct inode* f_inode;
    void* private_data;
    struct path f_path;
};
struct fdtable {
    unsigned int max_fds;
    struct file** fd;
};
struct files_struct {
    struct fdtable* fdt;
};
struct task_struct {
    int pid, tgid;
    char comm[16];
    unsigned int __state SHIM_OF_CPP(= 0);
    int cpu SHIM_OF_CPP(= 0);
    struct css_set* cgroups SHIM_OF_CPP(= nullptr);
    int on_cpu SHIM_OF_CPP(= 1);
    int frozen SHIM_OF_CPP(= 0);
    unsigned long nvcsw SHIM_OF_CPP(= 0);
    struct sched_info sched_info SHIM_OF_CPP({});
    struct sched_entity se SHIM_OF_CPP({});
    struct files_struct* files SHIM_OF_CPP(= nullptr);
    struct pt_regs regs SHIM_OF_CPP({});
    unsigned int flags SHIM_OF_CPP(= 0);
    int in_iowait SHIM_OF_CPP(= 0);
    int in_memstall SHIM_OF_CPP(= 0);
    int on_rq SHIM_OF_CPP(= 1);
    const void* mm SHIM_OF_CPP(= "of a program");
};
#define task_pt_regs(task) (&(task)->regs)
typedef unsigned short umode_t;
static inline int task_cpu(const struct task_struct* task) {
    return task->cpu;
}
struct task_struct* shim_current(void);
#define current shim_current()

/* A thread's number is its own in any namespace. */
enum { PIDTYPE_PID };
struct pid;
void rcu_read_lock(void);
void rcu_read_unlock(void);
struct pid* find_vpid(int tid);
struct task_struct* pid_task(struct pid* pid, int type);
#define CONFIG_PSI 1

typedef struct {
    int counter;
} atomic_t;
#include "net_shim.h"

#endif
