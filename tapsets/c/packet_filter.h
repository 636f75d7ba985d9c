/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The filter of this run: a program of libpcap's, compiled by stapgen and given as the module is loaded. */
#ifndef STAPGEN_PACKET_FILTER_H
#define STAPGEN_PACKET_FILTER_H

#include <linux/moduleparam.h>

#include "bpf.h"

enum { STAPGEN_FILTER_ROOM = 4096 }; /* BPF_MAXINSNS */
static unsigned long stapgen_filter[STAPGEN_FILTER_ROOM] = {0};
module_param_array(stapgen_filter, ulong, NULL, 0);

/* In its first word: it asks for VLAN tags. */
#define STAPGEN_FILTER_VLAN (1UL << 62)

static inline int stapgen_has_filter(void) {
    return stapgen_filter[0] != 0;
}
/* Whether a packet with a network header passes. */
static inline int stapgen_passes_filter(const struct sk_buff* skb, const void** fault) {
    struct stapgen_frame frame;
    return stapgen_frame_of(skb, (stapgen_filter[0] & STAPGEN_FILTER_VLAN) != 0, &frame, fault) &&
           stapgen_bpf_run(stapgen_filter, STAPGEN_FILTER_ROOM, &frame, fault) != 0;
}

#endif
