/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Received packets, aggregated. */
#ifndef STAPGEN_AGGREGATE_RX_H
#define STAPGEN_AGGREGATE_RX_H

#include "histogram.h"
#include "rx_queued.h"

/* Of a packet that was read: its stages, what it waited for, and its socket, or the skb of a datagram. */
typedef void stapgen_keeps_read(const struct stapgen_rx_queued* packet, unsigned long queue, s64 now, int is_datagram,
                                u32 has, const s64* stages, const struct stapgen_waits* waits, const void** fault);

/* What a thread has read, each packet to KEEP, where that is not NULL. Whether there is one that is among the slowest,
 * which this CPU has taken out last: it is to be printed, and this to be called again. */
static __always_inline int stapgen_aggregate_read_to(stapgen_keeps_read* keep, unsigned long queue, s64 now,
                                                     int is_datagram, int is_wanted, const void** fault) {
    /* Of its causes udp-app has not the first. */
    enum { TCP_APP_PARTS = (int)STAPGEN_RX_STAGES, UDP_APP_PARTS = TCP_APP_PARTS + (int)STAPGEN_UDP_APP_CAUSES };
    const struct stapgen_rx_queued* packet;
    while ((packet = stapgen_pop_read(queue, is_datagram, is_wanted, fault)) != NULL) {
        STAPGEN_UNINITIALIZED s64 stages[STAPGEN_RX_ROOM];
        STAPGEN_UNINITIALIZED struct stapgen_waits waits;
        u32 has;
        if (!is_wanted) continue;
        has = stapgen_rx_stages(packet, now, is_datagram, stages);
        if (STAPGEN_WAITS) stapgen_divide_popped(&waits, packet, now);
        if (keep) keep(packet, queue, now, is_datagram, has, stages, STAPGEN_WAITS ? &waits : NULL, fault);
        if (stapgen_aggregate_divided(0, 0, has, stages, STAPGEN_WAITS ? &waits : NULL,
                                      is_datagram ? UDP_APP_PARTS : TCP_APP_PARTS))
            return 1;
    }
    return 0;
}
static inline int stapgen_aggregate_read(unsigned long queue, s64 now, int is_datagram, int is_wanted,
                                         const void** fault) {
    return stapgen_aggregate_read_to(NULL, queue, now, is_datagram, is_wanted, fault);
}

#endif
