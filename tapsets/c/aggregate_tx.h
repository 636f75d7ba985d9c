/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sent packets, aggregated. */
#ifndef STAPGEN_AGGREGATE_TX_H
#define STAPGEN_AGGREGATE_TX_H

#include "histogram.h"
#include "tx_packet.h"

/* The one that has left from this CPU last, its stages from number FIRST on: whether it is among the slowest, and to be
 * printed. */
static inline int stapgen_aggregate_left(int direction, int first, s64 now) {
    STAPGEN_UNINITIALIZED s64 stages[STAPGEN_TX_STAGES];
    u32 has = stapgen_tx_stages(STAPGEN_THIS_CPU(stapgen_tx_popped), now, stages);
    return stapgen_aggregate_divided(direction, first, has, stages,
                                     STAPGEN_WAITS ? STAPGEN_THIS_CPU(stapgen_tx_popped_waits) : NULL,
                                     first + STAPGEN_TX_STAGES);
}

#endif
