/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets that were passed on, aggregated. */
#ifndef STAPGEN_AGGREGATE_FORWARD_H
#define STAPGEN_AGGREGATE_FORWARD_H

#include "forward.h"
#include "histogram.h"

/* The one that has left from this CPU last: whether it is among the slowest, and to be printed. */
static inline int stapgen_aggregate_forwarded(s64 now) {
    s64 stages[STAPGEN_RECORD_FIELDS];
    stages[STAPGEN_TOTAL] = STAPGEN_NO_STAGE;
    stapgen_forward_stages(STAPGEN_THIS_CPU(stapgen_forward_left), now, stages);
    return stapgen_aggregate_record(0, 0, stages);
}

#endif
