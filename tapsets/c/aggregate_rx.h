/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Received packets, aggregated. */
#ifndef STAPGEN_AGGREGATE_RX_H
#define STAPGEN_AGGREGATE_RX_H

#include "histogram.h"
#include "rx_queued.h"

/* What a thread has read. Whether there is one that is among the slowest, which this CPU has taken out last: it is to
 * be printed, and this to be called again. */
static inline int stapgen_aggregate_read(unsigned long queue, s64 now, int is_datagram, int is_wanted,
                                         const void** fault) {
    const struct stapgen_rx_queued* packet;
    while ((packet = stapgen_pop_read(queue, is_datagram, is_wanted, fault)) != NULL) {
        s64 stages[STAPGEN_RX_ROOM];
        if (!is_wanted) continue;
        stapgen_rx_stages(packet, now, is_datagram, stages);
        if (stapgen_aggregate_record(0, 0, stages)) return 1;
    }
    return 0;
}

#endif
