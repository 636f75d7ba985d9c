/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading kernel memory that may be gone. Nothing is read while a lock of ours is held: see lock.h. */
#ifndef STAPGEN_READ_H
#define STAPGEN_READ_H

#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <net/sock.h>
#include <net/tcp.h>

#ifndef READ_ONCE
#define READ_ONCE(x) (*(const volatile __typeof__(x)*)&(x))
#define WRITE_ONCE(x, value) (*(volatile __typeof__(x)*)&(x) = (value))
#endif

/* EL's kernels of that release and later ones, which have changes of later kernels under their number. */
#ifdef RHEL_MAJOR
#define STAPGEN_IS_EL(major, minor) (RHEL_MAJOR == (major) && RHEL_MINOR >= (minor))
#else
#define STAPGEN_IS_EL(major, minor) 0
#endif

/* As @stapgen_now. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(3, 17, 0) || STAPGEN_IS_EL(7, 0)
#define STAPGEN_NOW() ((s64)ktime_get_ns())
#else
#define STAPGEN_NOW() ((s64)_stp_gettimeofday_ns())
#endif

/* The SIZE bytes (1, 2, 4 or 8) there. Where they cannot be read: 0, and *FAULT says where that was. */
#if defined(__get_kernel_nofault) && \
    (defined(CONFIG_X86_64) ||       \
     (defined(CONFIG_ARM64) && !defined(CONFIG_KASAN_SW_TAGS) && !defined(CONFIG_KASAN_HW_TAGS)))
/* kread() takes some 75 instructions to look at the address first. A tagged address of arm64 would be below
 * PAGE_OFFSET. */
static __always_inline u64 stapgen_read(const void* from, size_t size, const void** fault) {
    u8 of1;
    u16 of2;
    u32 of4;
    u64 of8;
    /* With SMAP or PAN a fault below is not caught: do_user_addr_fault(), and arm64's do_page_fault(). */
    if (unlikely((unsigned long)from < PAGE_OFFSET)) goto bad;
    switch (size) {
        case 1:
            __get_kernel_nofault(&of1, from, u8, bad);
            return of1;
        case 2:
            __get_kernel_nofault(&of2, from, u16, bad);
            return of2;
        case 4:
            __get_kernel_nofault(&of4, from, u32, bad);
            return of4;
        default:
            __get_kernel_nofault(&of8, from, u64, bad);
            return of8;
    }
bad:
    *fault = from;
    return 0;
}
#else
/* kread() reports a fault in the context c, and goes to deref_fault. */
static u64 stapgen_read(const void* from, size_t size, const void** fault) {
    struct {
        char error_buffer[128];
        const char* last_error;
    } context, *c = &context;
    (void)c;
    switch (size) {
        case 1:
            return kread((u8*)from);
        case 2:
            return kread((u16*)from);
        case 4:
            return kread((u32*)from);
        default:
            return kread((u64*)from);
    }
    goto deref_fault;
deref_fault:
    *fault = from;
    return 0;
}
#endif
#define STAPGEN_READ(p, fault) ((__force __typeof__(*(p)))(unsigned long)stapgen_read((p), sizeof(*(p)), (fault)))

/* A text; of one that is longer, or that cannot be read to its end, the beginning. */
static inline void stapgen_read_text(char* to, size_t size, const char* from, const void** fault) {
    size_t i;
    for (i = 0; i < size - 1; i++)
        if (!(to[i] = (char)STAPGEN_READ((const u8*)from + i, fault))) break;
    to[i] = 0;
}

/* Whether all of a structure can be read, which is so where its first and its last byte can. */
static __always_inline int stapgen_is_readable(const void* p, size_t size, const void** fault) {
    stapgen_read(p, 1, fault);
    stapgen_read((const char*)p + size - 1, 1, fault);
    return likely(!*fault);
}
#define STAPGEN_IS_READABLE(p, fault) stapgen_is_readable((p), sizeof(*(p)), (fault))

static inline unsigned long stapgen_head(const struct sk_buff* skb, const void** fault) {
    return (unsigned long)STAPGEN_READ(&skb->head, fault);
}

/* The name of the device that has a packet, as two numbers. */
static inline void stapgen_read_device(const struct sk_buff* skb, u64* device, const void** fault) {
    const struct net_device* dev = STAPGEN_READ(&skb->dev, fault);
    if (*fault) return;
    device[0] = STAPGEN_READ((const u64*)&dev->name[0], fault);
    device[1] = STAPGEN_READ((const u64*)&dev->name[8], fault);
}

/* Whether the device that has it is on top of others (bond, VLAN, bridge); of older kernels the caller sees to that. */
static inline int stapgen_has_lower_device(const struct sk_buff* skb, const void** fault) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(3, 13, 0)
    const struct net_device* dev = STAPGEN_READ(&skb->dev, fault);
    if (*fault) return 0;
    return STAPGEN_READ(&dev->adj_list.lower.next, fault) != &dev->adj_list.lower;
#else
    return 0;
#endif
}

/* ---- of an skb that can be read as a whole ---- */

static inline const unsigned char* stapgen_network_header_of(const struct sk_buff* skb) {
    return skb->head + skb->network_header;
}
static inline const unsigned char* stapgen_transport_header_of(const struct sk_buff* skb) {
    return skb->head + skb->transport_header;
}
/* Drivers may leave all but the first bytes of a packet in pages: behind here is nothing to be read. */
static inline const unsigned char* stapgen_linear_end(const struct sk_buff* skb) {
    return skb->data + (skb->len - skb->data_len);
}

/* A TCP segment's bytes of data; -1: its header is in a page. The length of the header is not read as a bit field: that
 * is laid out by the machine. */
static inline long stapgen_tcp_payload_of(const struct sk_buff* skb, const void** fault) {
    const unsigned char* header = stapgen_transport_header_of(skb);
    if (header + 14 > stapgen_linear_end(skb)) return -1;
    return (long)skb->len - (header - skb->data) - ((STAPGEN_READ(header + 12, fault) & 0xf0) >> 4) * 4;
}
/* A datagram's, wherever its header is. */
static inline long stapgen_udp_payload_of(const struct sk_buff* skb) {
    return (long)skb->len - (stapgen_transport_header_of(skb) - skb->data) - 8;
}
/* Whether its outermost IP header is a tunnel's: its transport header then is, too. */
static inline int stapgen_is_in_tunnel(const struct sk_buff* skb, const void** fault) {
    const unsigned char* ip = stapgen_network_header_of(skb);
    int protocol = STAPGEN_READ(ip + ((STAPGEN_READ(ip, fault) & 0xf0) == 0x40 ? 9 : 6), fault);
    return protocol == IPPROTO_UDP || protocol == IPPROTO_IPIP || protocol == IPPROTO_IPV6 || protocol == IPPROTO_GRE ||
           protocol == IPPROTO_ESP;
}
/* Of a TCP segment, or of a datagram with its header, by the IP header alone; 0 for all else, and where that is not to
 * be decided (further fragments, IPv6 extension headers). */
static inline long stapgen_ip_payload_of(const struct sk_buff* skb, const void** fault) {
    const unsigned char *ip = stapgen_network_header_of(skb), *transport = ip;
    int protocol = 0, length = 0;
    if ((STAPGEN_READ(ip, fault) & 0xf0) == 0x40) {
        if (!((STAPGEN_READ(ip + 6, fault) << 8 | STAPGEN_READ(ip + 7, fault)) & 0x1fff))
            protocol = STAPGEN_READ(ip + 9, fault);
        transport += (STAPGEN_READ(ip, fault) & 0xf) * 4;
    } else {
        protocol = STAPGEN_READ(ip + 6, fault);
        transport += 40;
    }
    if (protocol == IPPROTO_TCP) {
        length = 60;
        if (transport + 14 <= stapgen_linear_end(skb)) length = ((STAPGEN_READ(transport + 12, fault) & 0xf0) >> 4) * 4;
    } else if (protocol != IPPROTO_UDP) {
        return 0;
    }
    return (long)skb->len - (transport - skb->data) - length;
}
/* The sequence number behind the data of a segment at its socket, without its FIN, which a thread that has read it all
 * need not have taken yet. */
static inline u32 stapgen_segment_end_of(const struct sk_buff* skb, const void** fault) {
    return TCP_SKB_CB(skb)->end_seq - (STAPGEN_READ(stapgen_transport_header_of(skb) + 13, fault) & 1);
}
/* The sequence number that a socket expects next; of one that waits for a SYN, which does not know it yet, that of a
 * segment's first byte. */
static inline u32 stapgen_rcv_nxt_of(const struct sock* sk, u32 begin_seq, const void** fault) {
    enum { STAPGEN_SYN_SENT = 2 };
    u8 state = STAPGEN_READ((const u8*)&sk->__sk_common.skc_state, fault);
    return state == STAPGEN_SYN_SENT ? begin_seq : STAPGEN_READ(&tcp_sk(sk)->rcv_nxt, fault);
}
/* Whether another skb has the same data: a packet socket's copy, or TCP's own. */
static inline int stapgen_shares_data(const struct sk_buff* skb, const void** fault) {
    return (STAPGEN_READ(&skb_shinfo(skb)->dataref.counter, fault) & 0xffff) > 1;
}

/* Of how many segments or datagrams of the wire its payload is: GRO, or the sender's device, has merged them. */
static inline u32 stapgen_wire_segments_of(const struct sk_buff* skb, long payload, const void** fault) {
    u32 size = STAPGEN_READ(&skb_shinfo(skb)->gso_size, fault), segments;
    if (!size || payload <= 0) return 1;
    /* A virtual machine's host does not say how many. */
    segments = STAPGEN_READ(&skb_shinfo(skb)->gso_segs, fault);
    return segments ? segments : ((u32)payload + size - 1) / size;
}

/* Sequence numbers are 32 bits and wrap. */
static inline int stapgen_after(u32 a, u32 b) {
    return (s32)(a - b) > 0;
}

static inline u32 stapgen_hash(unsigned long key, int bits) {
    return (u32)(((u64)key * 0x9e3779b97f4a7c15ULL) >> (64 - bits));
}

/* A number that stands for two. */
static inline unsigned long stapgen_mixed(unsigned long key, unsigned long with) {
    return key ^ (unsigned long)((u64)with * 0x9e3779b97f4a7c15ULL);
}
/* A thread as the key of a set: its task may be another one's later. */
static inline unsigned long stapgen_thread_key(const struct task_struct* task, u32 tid) {
    return stapgen_mixed((unsigned long)task, tid);
}
static inline unsigned long stapgen_this_thread_key(void) {
    return stapgen_thread_key(current, (u32)current->pid);
}
/* This thread, below its process. */
static inline s64 stapgen_this_thread_of(void) {
    return (s64)current->tgid << 32 | (u32)current->pid;
}

#endif
