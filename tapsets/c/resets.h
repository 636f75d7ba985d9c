/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why TCP sends a reset, and on which path. The kernel's own reasons where it has them (6.10), by the names of its
 * enum, whose numbers change; else what can be seen. */
#ifndef STAPGEN_RESETS_H
#define STAPGEN_RESETS_H

#include <linux/gfp.h>
#include <linux/preempt.h>
#include <linux/tcp.h>
#include <net/route.h>

#include "read.h"
#include "stacks.h"

#ifdef DEFINE_RST_REASON
enum { STAPGEN_HAS_RESET_REASONS = 1 };
#define STAPGEN_NAME_RESET(reason) [SK_RST_REASON_##reason] = #reason,
#define STAPGEN_NO_RESET(reason)
static const char* const stapgen_reset_names[] = {DEFINE_RST_REASON(STAPGEN_NAME_RESET, STAPGEN_NO_RESET)};
#else
enum { STAPGEN_HAS_RESET_REASONS = 0 };
enum stapgen_reset_class {
    STAPGEN_RESET_OTHER,
    STAPGEN_RESET_NO_SOCKET,
    STAPGEN_RESET_TIME_WAIT,
    STAPGEN_RESET_AFTER_CLOSE,
    STAPGEN_RESET_CLOSED_UNREAD,
    STAPGEN_RESET_LINGER,
};
static const char* const stapgen_reset_names[] = {"other",       "no-socket",     "time-wait",
                                                  "after-close", "closed-unread", "linger"};
#endif

static inline const char* stapgen_reset_name(s64 reason) {
    if (reason < 0 || reason >= (s64)ARRAY_SIZE(stapgen_reset_names) || !stapgen_reset_names[reason]) return "unknown";
    return stapgen_reset_names[reason];
}

/* Where a path has the function that makes a reset. SIZE: nowhere. */
static inline u32 stapgen_find_reset(const unsigned long* frame, u32 size) {
    char name[STAPGEN_FUNCTION_NAME];
    u32 i;
    for (i = 0; i < size; i++) {
        STAPGEN_NAME_FUNCTION(name, frame[i] - 1);
        if (stapgen_begins_with(name, "tcp_send_active_reset") || stapgen_begins_with(name, "tcp_v4_send_reset") ||
            stapgen_begins_with(name, "tcp_v6_send_reset"))
            return i;
    }
    return size;
}

#ifndef DEFINE_RST_REASON
/* Of an answer to a segment. */
static inline enum stapgen_reset_class stapgen_class_answer(const struct sock* sk, const void** fault) {
    u8 state;
    if (!sk) return STAPGEN_RESET_NO_SOCKET;
    state = STAPGEN_READ((const u8*)&sk->__sk_common.skc_state, fault); /* it may be volatile */
    if (state == TCP_TIME_WAIT) return STAPGEN_RESET_TIME_WAIT;
    return state == TCP_CLOSE ? STAPGEN_RESET_AFTER_CLOSE : STAPGEN_RESET_OTHER;
}
/* Of a socket's own, by the function that asks for it: close() does so for unread data, and, with GFP_ATOMIC, for lack
 * of memory and TCP_LINGER2. */
static inline enum stapgen_reset_class stapgen_class_own(s64 gfp) {
    unsigned long* frame = STAPGEN_THIS_CPU(stapgen_raw_stacks)->frame;
    const u32 size = stapgen_save_stack(frame, STAPGEN_RAW_FRAMES);
    const u32 i = stapgen_find_reset(frame, size);
    char name[STAPGEN_FUNCTION_NAME];
    if (i + 2 >= size) return STAPGEN_RESET_OTHER;
    STAPGEN_NAME_FUNCTION(name, frame[i + 1] - 1);
    if (stapgen_begins_with(name, "tcp_close") || stapgen_begins_with(name, "__tcp_close"))
        return gfp == GFP_ATOMIC ? STAPGEN_RESET_OTHER : STAPGEN_RESET_CLOSED_UNREAD;
    if (!stapgen_begins_with(name, "tcp_disconnect")) return STAPGEN_RESET_OTHER;
    STAPGEN_NAME_FUNCTION(name, frame[i + 2] - 1);
    return stapgen_begins_with(name, "tcp_close") || stapgen_begins_with(name, "__tcp_close") ? STAPGEN_RESET_LINGER
                                                                                              : STAPGEN_RESET_OTHER;
}
#endif

/* Whether a segment gets a reset as its answer: as tcp_v4_send_reset() and tcp_v6_send_reset() begin. */
static inline int stapgen_is_answered_by_reset(const struct sock* sk, const struct sk_buff* skb, const void** fault) {
    enum { FLAGS = 13, RST = 4, IS_IP4 = 0x40 };
    const u8* head = STAPGEN_READ(&skb->head, fault);
    const u8* ip = head + STAPGEN_READ(&skb->network_header, fault);
    const u8* tcp = head + STAPGEN_READ(&skb->transport_header, fault);
    unsigned long dst;
    if (STAPGEN_READ(tcp + FLAGS, fault) & RST) return 0;
    if (sk || (STAPGEN_READ(ip, fault) & 0xf0) != IS_IP4) return 1;
    dst = STAPGEN_READ(&skb->_skb_refdst, fault) & SKB_DST_PTRMASK;
    return dst && STAPGEN_READ(&((const struct rtable*)dst)->rt_type, fault) == RTN_LOCAL;
}

/* The path to here of a reset that is sent. */
static inline void stapgen_add_reset_stack(s64 reason) {
    unsigned long* frame = STAPGEN_THIS_CPU(stapgen_raw_stacks)->frame;
    struct stapgen_stack* stack = STAPGEN_THIS_CPU(stapgen_this_stack);
    const u32 size = stapgen_save_stack(frame, STAPGEN_RAW_FRAMES);
    u32 i = stapgen_find_reset(frame, size);
    if (i == size) i = stapgen_skip_tracing(frame, size);
    stack->reason = reason;
    stack->reset = stapgen_reset_name(reason);
    stack->frames = stapgen_copy_path(frame, size, i, stack->frame, STAPGEN_FRAMES);
    if (!stack->frames) stack->frame[stack->frames++] = 0;
    stapgen_count_stack(stack);
}

#endif
