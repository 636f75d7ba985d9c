/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who frees a dropped packet, by the function at the place of the drop: what that means for the packet. */
#ifndef STAPGEN_FREEING_H
#define STAPGEN_FREEING_H

#include "path.h"
#include "per_cpu.h"

enum stapgen_freeing {
    STAPGEN_FREED_ELSEWHERE = 1,
    STAPGEN_FREED_IN_CHAIN,      /* of nftables, or by the queue (NFQUEUE) that a chain has given it to */
    STAPGEN_FREED_AT_HOOK,       /* of netfilter */
    STAPGEN_MAYBE_FREED_AT_HOOK, /* a function that has a hook, and drops for other reasons as well */
    STAPGEN_FREED_IN_BACKLOG,    /* a CPU's input queue was full: before the hand-over */
    STAPGEN_FREED_COPY,          /* of a packet socket */
    STAPGEN_FREED_BY_TCP,        /* at its entrance */
};
struct stapgen_freeing_place {
    unsigned long location;
    enum stapgen_freeing freeing;
};
/* The last one of each CPU: a name takes long to look up, and floods of drops are at one place. */
STAPGEN_PER_CPU(struct stapgen_freeing_place, stapgen_last_freeing);

static inline int stapgen_is_function(const char* name, const char* function) {
    const size_t length = strlen(function);
    return !strncmp(name, function, length) && (!name[length] || strchr(" .+", name[length]));
}
static inline enum stapgen_freeing stapgen_freeing_of(unsigned long location) {
    struct stapgen_freeing_place* last = STAPGEN_THIS_CPU(stapgen_last_freeing);
    char name[STAPGEN_FUNCTION_NAME];
    if (last->location == location && last->freeing) return last->freeing;
    STAPGEN_NAME_FUNCTION(name, location - 1);
    last->location = location;
    last->freeing = stapgen_is_function(name, "nft_do_chain")         ? STAPGEN_FREED_IN_CHAIN
                    : stapgen_is_function(name, "nf_queue")           ? STAPGEN_FREED_IN_CHAIN
                    : stapgen_is_function(name, "nf_reinject")        ? STAPGEN_FREED_IN_CHAIN
                    : stapgen_begins_with(name, "nfqnl_")             ? STAPGEN_FREED_IN_CHAIN
                    : stapgen_is_function(name, "nf_hook_slow")       ? STAPGEN_FREED_AT_HOOK
                    : stapgen_is_function(name, "nf_hook_slow_list")  ? STAPGEN_MAYBE_FREED_AT_HOOK
                    : stapgen_is_function(name, "br_handle_frame")    ? STAPGEN_MAYBE_FREED_AT_HOOK
                    : stapgen_is_function(name, "enqueue_to_backlog") ? STAPGEN_FREED_IN_BACKLOG
                    : stapgen_is_function(name, "tcp_v4_rcv")         ? STAPGEN_FREED_BY_TCP
                    : stapgen_is_function(name, "tcp_v6_rcv")         ? STAPGEN_FREED_BY_TCP
                    : strstr(name, "packet_rcv") != NULL              ? STAPGEN_FREED_COPY
                                                                      : STAPGEN_FREED_ELSEWHERE;
    return last->freeing;
}

#endif
