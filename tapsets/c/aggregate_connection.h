/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Connections that programs open, aggregated. */
#ifndef STAPGEN_AGGREGATE_CONNECTION_H
#define STAPGEN_AGGREGATE_CONNECTION_H

#include "histogram.h"

/* One that is over; STAPGEN_NO_STAGE where there is none. Whether it is among the slowest, and to be printed. */
static inline int stapgen_aggregate_connection(s64 call, s64 program, s64 answer, s64 failure, s64 syns_sent,
                                               s64 syns_dropped) {
    s64 stages[STAPGEN_RECORD_FIELDS] = {call, program, answer, failure};
    enum { STAGES = 4 };
    stapgen_no_stages(stages + STAGES, (int)STAPGEN_RECORD_FIELDS - (int)STAGES);
    if (syns_sent >= 0) stapgen_aggregate_value(STAGES, syns_sent);
    if (syns_dropped >= 0) stapgen_aggregate_value(STAGES + 1, syns_dropped);
    return stapgen_aggregate_record(0, 0, stages);
}

#endif
