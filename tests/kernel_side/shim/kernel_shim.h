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
#ifdef __cplusplus
#define SHIM_THREAD_LOCAL inline thread_local
#else
#define SHIM_THREAD_LOCAL static _Thread_local
#endif
SHIM_THREAD_LOCAL int shim_cpu;
SHIM_THREAD_LOCAL int shim_serving_softirq;
#define in_serving_softirq() (shim_serving_softirq)
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
static inline unsigned long __ffs(unsigned long value) {
    return (unsigned long)__builtin_ctzl(value);
}
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
static inline void _stp_printf(const char* format, const char* text) {
    (void)format;
    _stp_print(text);
    _stp_print("\n");
}

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

struct task_struct {
    int pid, tgid;
    char comm[16];
};
struct task_struct* shim_current(void);
#define current shim_current()

typedef struct {
    int counter;
} atomic_t;
struct list_head {
    struct list_head *next, *prev;
};
struct net_device;
struct net {
    struct {
        u32 inum;
    } ns;
    struct net_device* loopback_dev;
};
typedef struct {
    struct net* net;
} possible_net_t;
struct net_device {
    char name[16];
    possible_net_t nd_net;
    unsigned int priv_flags;
    struct {
        struct list_head lower;
    } adj_list;
};
struct kernfs_node {
    u64 id;
};
struct cgroup_subsys_state {
    struct cgroup_subsys_state* parent;
};
struct cgroup {
    struct cgroup_subsys_state self;
    struct kernfs_node* kn;
};
#define CONFIG_SOCK_CGROUP_DATA 1
struct sock_cgroup_data {
    struct cgroup* cgroup;
    u32 classid;
};
static inline struct cgroup* sock_cgroup_ptr(struct sock_cgroup_data* data) {
    return data->cgroup;
}
#define container_of(p, type, member) ((type*)((char*)(p)-offsetof(type, member)))
struct sock;
struct sock_common {
    u64 skc_cookie;
    possible_net_t skc_net;
    volatile unsigned char skc_state;
    struct sock* skc_listener;
};
struct sock {
    struct sock_common __sk_common;
    u16 sk_protocol;
    u8 sk_net_refcnt : 1;
    struct sock_cgroup_data sk_cgrp_data;
};
struct request_sock {
    struct sock_common __req_common;
};
#define rsk_listener __req_common.skc_listener
#define sk_cookie __sk_common.skc_cookie
struct inet_sock {
    struct sock sk;
    __be16 inet_dport, inet_sport;
};
struct udp_sock {
    struct inet_sock inet;
    u8 encap_type;
};
#define CONFIG_MPTCP 1
struct tcp_sock {
    struct inet_sock inet;
    bool is_mptcp;
    u32 rcv_nxt, copied_seq, write_seq, snd_nxt;
    const struct tcp_ulp_ops* icsk_ulp_ops;
    void* icsk_ulp_data;
};
#define CONFIG_TLS 1
struct tcp_ulp_ops {
    char name[16];
};
enum { TLS_BASE, TLS_SW };
struct tls_context {
    u8 tx_conf : 3, rx_conf : 3;
};
#define inet_sk(sk) ((const struct inet_sock*)(sk))
#define inet_csk(sk) ((const struct tcp_sock*)(sk))
#define tcp_sk(sk) ((const struct tcp_sock*)(sk))
#define udp_sk(sk) ((const struct udp_sock*)(sk))
struct skb_shared_info {
    atomic_t dataref;
};
struct sk_buff {
    struct net_device* dev;
    struct sock* sk;
    char cb[48];
    u32 len, data_len;
    int skb_iif;
    __be16 protocol, vlan_proto;
    u16 vlan_tci;
    u16 transport_header, network_header, mac_header;
    u32 end;
    unsigned char *head, *data;
};
static inline int netif_is_bridge_port(const struct net_device* dev) {
    return dev->priv_flags & 1;
}
#define skb_vlan_tag_present(skb) ((skb)->vlan_proto != 0)
#define skb_vlan_tag_get(skb) ((skb)->vlan_tci)
/* What is in pages: by the test. */
int skb_copy_bits(const struct sk_buff* skb, int offset, void* to, int length);
#define skb_shinfo(skb) ((const struct skb_shared_info*)((skb)->head + (skb)->end))
struct tcp_skb_cb {
    u32 seq, end_seq;
    u8 tcp_flags;
};
#define TCP_SKB_CB(skb) ((const struct tcp_skb_cb*)&(skb)->cb[0])

#endif
